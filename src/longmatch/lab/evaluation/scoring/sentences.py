"""Models over sentence vectors: SDR's rules and the mean, from one encoding of the corpus."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.baselines.pooled.matcher import Centring, PooledMatcher
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import (
    OpeningVectorLayer,
    SentenceVectorLayer,
    restore_sentences,
    scoring_device,
)
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer, no_sentences
from longmatch.lab.evaluation.scoring.slices import Slice, slices_of
from longmatch.lab.evaluation.scoring.streaming import SlicePart, combine
from longmatch.lab.store.files import StoredLayer
from longmatch.models.sdr.matcher import SdrMatcher
from longmatch.models.sdr.score import Paragraphs, weighted_means


class SdrScorer(Scorer):
    """SDR's score, normalised over all paragraphs of all slices."""

    matcher: SdrMatcher
    _stored: StoredLayer
    _slices: list[Slice]

    @property
    def layers(self) -> Sequence[SentenceVectorLayer]:
        """The sentence vectors."""
        return (SentenceVectorLayer(self.matcher.backbone),)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The rule."""
        facts = {"normalise": self.matcher.normalise, "whole_paragraphs": self.matcher.whole_paragraphs}
        return facts if self.matcher.unit == "paragraph" else {**facts, "unit": self.matcher.unit}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Nothing is read yet."""
        self.unhandled = stored[0].unhandled
        self._stored, self._slices = stored[0], slices_of(stored[0])
        self._loaded: Paragraphs | None = None

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """Each slice is read once for all queries of the block."""
        sources = [self._source(number) for number in numbers]
        parts: list[list[SlicePart]] = [[] for _ in numbers]
        for part in self._slices:
            candidates = self._candidates(part)
            for source, scored in zip(sources, parts, strict=True):
                scored.append(SlicePart.of(source, candidates))
        return [combine(scored, self.matcher.normalise).double().numpy() for scored in parts]

    def _source(self, number: int) -> Paragraphs:
        arrays = self._stored.document(number)
        sentences = restore_sentences(arrays, no_sentences().document)
        source = self.matcher.lay_out(sentences, arrays["vectors"].astype(np.float32)).paragraphs
        parts = source.vectors, source.paragraphs, source.documents
        vectors, *offsets = (torch.from_numpy(part).to(scoring_device()) for part in parts)
        return Paragraphs(self._compared(vectors), *offsets)

    def _compared(self, vectors: Tensor) -> Tensor:
        """The vectors as they are compared."""
        return vectors

    def _candidates(self, part: Slice) -> Paragraphs:
        """A slice in the form the score takes; a single slice stays loaded."""
        if self._loaded is not None:
            return self._loaded
        paragraphs, documents = part.units(self.matcher.unit)
        paragraphs, vectors = paragraphs.to(documents.device), part.vectors()
        if self.matcher.whole_paragraphs:
            vectors = weighted_means(vectors, torch.from_numpy(part.array("lengths")), paragraphs)
            paragraphs = torch.arange(len(vectors) + 1, device=documents.device)
        candidates = Paragraphs(self._compared(vectors), paragraphs, documents)
        if len(self._slices) == 1:
            self._loaded = candidates
        return candidates


class CentredSdrScorer(SdrScorer):
    """SDR's score over sentence vectors centred on those of the whole corpus."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The rule."""
        return {**super().facts, "centred": True}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Read all vectors once."""
        super().open(stored, corpus)
        self._centring = Centring.of(part.vectors() for part in self._slices)

    def _compared(self, vectors: Tensor) -> Tensor:
        centred: Tensor = self._centring.apply(vectors)
        return centred


class PooledScorer(Scorer):
    """The cosine of one vector per document."""

    matcher: PooledMatcher
    _vectors: Tensor

    @property
    def layers(self) -> Sequence[SentenceVectorLayer | OpeningVectorLayer]:
        """Sentence vectors for the mean, else the opening's."""
        mean = self.matcher.rule == "mean"
        return (SentenceVectorLayer(self.matcher.backbone) if mean else OpeningVectorLayer(self.matcher),)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The rule."""
        return {"rule": self.matcher.rule}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """One vector per document."""
        self.unhandled = stored[0].unhandled
        self._vectors = torch.zeros((len(corpus), self.matcher.backbone.width))
        if self.matcher.rule == "mean":
            for part in slices_of(stored[0]):
                lengths = torch.from_numpy(part.array("lengths"))
                self._vectors[part.first : part.last] = weighted_means(part.vectors(), lengths, part.offsets()).cpu()
        else:
            handled = [number for number in range(len(corpus)) if number not in self.unhandled]
            self._vectors[handled] = torch.from_numpy(stored[0].array("vector"))

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One product."""
        return list(np.asarray((self._vectors[list(numbers)] @ self._vectors.T).double().numpy()))


class CentredMeanScorer(PooledScorer):
    """The cosine of document vectors centred on those of the whole corpus."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """The rule."""
        return {**super().facts, "centred": True}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Centre the vectors of the documents that could be handled."""
        super().open(stored, corpus)
        handled = [number for number in range(len(corpus)) if number not in self.unhandled]
        self._vectors = Centring.of([self._vectors[handled]]).apply(self._vectors)
