"""Models over stored vectors: of sentences, slice by slice (SDR's rules, the mean, RPRS), and of whole documents."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.baselines.pooled.matcher import Centring, PooledMatcher
from longmatch.lab.baselines.rprs.matcher import (
    Hits,
    RprsMatcher,
    SentencePool,
    find_hits,
    nearest_cosines,
    proportional_scores,
    top_cosines,
)
from longmatch.lab.encoders.ragged import segment_max
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import (
    DocumentVectorLayer,
    OpeningVectorLayer,
    SentenceVectorLayer,
    VectorEncoder,
    restore_sentences,
    scoring_device,
    sentence_layer,
)
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer, no_sentences
from longmatch.lab.evaluation.scoring.slices import LoadedSlices, Slice, slices_of
from longmatch.lab.store.files import StoredLayer
from longmatch.matching.matcher import Matcher
from longmatch.models.sdr.matcher import SdrMatcher
from longmatch.models.sdr.score import Paragraphs, paragraph_scores, weighted_means


class SdrScorer(Scorer):
    """SDR's score, normalised over all paragraphs of all slices."""

    matcher: SdrMatcher
    slices: LoadedSlices[Paragraphs]

    def __init__(self, matcher: SdrMatcher) -> None:
        super().__init__(matcher)
        self.layers = (sentence_layer(matcher.backbone),)
        unit = {} if matcher.unit == "paragraph" else {"unit": matcher.unit}
        self.facts = {"normalise": matcher.normalise, "whole_paragraphs": matcher.whole_paragraphs, **unit}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Nothing is read yet."""
        self._stored, self.unhandled = stored[0], stored[0].unhandled
        self.slices = LoadedSlices(self._stored, self._candidates)

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """Each slice is read once for all queries of the block."""
        sources = [self._source(number) for number in numbers]
        parts: list[list[SlicePart]] = [[] for _ in numbers]
        for _, candidates in self.slices:
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
        """A slice in the form the score takes."""
        paragraphs, documents = part.units(self.matcher.unit)
        paragraphs, vectors = paragraphs.to(documents.device), part.vectors()
        if self.matcher.whole_paragraphs:
            vectors = weighted_means(vectors, torch.from_numpy(part.array("lengths")), paragraphs)
            paragraphs = torch.arange(len(vectors) + 1, device=documents.device)
        return Paragraphs(self._compared(vectors), paragraphs, documents)


class CentredSdrScorer(SdrScorer):
    """SDR's score over sentence vectors centred on those of the whole corpus."""

    def __init__(self, matcher: SdrMatcher) -> None:
        super().__init__(matcher)
        self.facts = {**self.facts, "centred": True}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Read all vectors once."""
        super().open(stored, corpus)
        self._centring = Centring.of(part.vectors() for part in self.slices.slices)

    def _compared(self, vectors: Tensor) -> Tensor:
        centred: Tensor = self._centring.apply(vectors)
        return centred


class PooledScorer(Scorer):
    """The cosine of one vector per document: of sentence vectors for the mean, else of the opening's."""

    matcher: PooledMatcher
    _vectors: Tensor

    def __init__(self, matcher: PooledMatcher) -> None:
        super().__init__(matcher)
        mean = matcher.rule == "mean"
        self.layers = (SentenceVectorLayer(matcher.backbone) if mean else OpeningVectorLayer(matcher),)
        self.facts = {"rule": matcher.rule}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """One vector per document."""
        self.unhandled = stored[0].unhandled
        self._vectors = torch.zeros((len(corpus), self.matcher.backbone.width))
        self._handled = [number for number in range(len(corpus)) if number not in self.unhandled]
        if self.matcher.rule == "mean":
            for part in slices_of(stored[0]):
                lengths = torch.from_numpy(part.array("lengths"))
                self._vectors[part.first : part.last] = weighted_means(part.vectors(), lengths, part.offsets()).cpu()
        else:
            self._vectors[self._handled] = torch.from_numpy(stored[0].array("vector"))

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One product."""
        return list(np.asarray((self._vectors[list(numbers)] @ self._vectors.T).double().numpy()))


class CentredMeanScorer(PooledScorer):
    """The cosine of document vectors centred on those of the whole corpus."""

    def __init__(self, matcher: PooledMatcher) -> None:
        super().__init__(matcher)
        self.facts = {**self.facts, "centred": True}

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Centre the vectors of the documents that could be handled."""
        super().open(stored, corpus)
        self._vectors = Centring.of([self._vectors[self._handled]]).apply(self._vectors)


@dataclass(frozen=True)
class SlicePart:
    """The scores of one slice of candidates for a source document."""

    best: Tensor  # (candidates of the slice, source paragraphs): the best P of each
    count: int  # candidate paragraphs
    total: Tensor  # (source paragraphs,) sums of P and of its square, in double precision
    squares: Tensor

    @staticmethod
    def of(source: Paragraphs, candidates: Paragraphs) -> "SlicePart":
        """Score one slice."""
        scores = paragraph_scores(source, candidates)  # (candidate paragraphs, source paragraphs)
        exact = scores.double()
        best = segment_max(scores, candidates.documents)
        return SlicePart(best.cpu(), len(scores), exact.sum(0).cpu(), exact.square().sum(0).cpu())


def combine(parts: Iterable[SlicePart], normalise: bool = True) -> Tensor:
    """Equation 6 over all slices, in order: S(s, c) for every candidate."""
    parts = list(parts)
    best = torch.cat([part.best for part in parts])
    if normalise:
        count = sum(part.count for part in parts)
        mean = torch.stack([part.total for part in parts]).sum(0) / count
        square = torch.stack([part.squares for part in parts]).sum(0) / count
        deviation = (square - mean.square()).clamp(min=0).sqrt().clamp(min=1e-9)
        best = ((best.double() - mean) / deviation).float()
    return best.mean(1)


class RprsScorer(Scorer):
    """Two passes over the slices: how near a hit must be, then which documents are hit."""

    matcher: RprsMatcher
    slices: LoadedSlices[SentencePool]

    def __init__(self, matcher: RprsMatcher) -> None:
        super().__init__(matcher)
        self.layers, self.facts = (SentenceVectorLayer(matcher.backbone),), asdict(matcher.rule)

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Nothing is read yet."""
        self._stored, self.unhandled = stored[0], stored[0].unhandled
        self.slices = LoadedSlices(self._stored, lambda part: SentencePool(part.vectors(), part.offsets()))

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """Each slice is read twice for all queries of the block."""
        stored = [torch.from_numpy(self._stored.document(number, "vectors")["vectors"]) for number in numbers]
        queries = [vectors.to(scoring_device(), torch.float32) for vectors in stored]
        best: list[list[Tensor]] = [[] for _ in numbers]
        for part, pool in self.slices:
            for number, query, cosines in zip(numbers, queries, best, strict=True):
                own = number - part.first if part.first <= number < part.last else None
                cosines.append(nearest_cosines(query, pool, self.matcher.rule.hits, own))
        nearby = [top_cosines(cosines, self.matcher.rule.hits) for cosines in best]
        hits: list[list[Hits]] = [[] for _ in numbers]
        for _, pool in self.slices:
            for query, near, parts in zip(queries, nearby, hits, strict=True):
                parts.append(find_hits(query, pool, near))
        return [proportional_scores(Hits.join(parts), self.matcher.rule).double().cpu().numpy() for parts in hits]


@dataclass(frozen=True)
class VectorOnly:
    """Placeholder for an encoding of which only the vector is needed."""

    vector: Tensor


class VectorScorer(Scorer):
    """A vector encoder over a corpus."""

    _vectors: Tensor  # of the documents that could be handled

    def __init__(self, matcher: VectorEncoder) -> None:
        super().__init__(cast(Matcher, matcher))
        self.encoder, self.layers = matcher, (DocumentVectorLayer(matcher),)
        self.facts = {"matcher": type(matcher).__name__}  # everything else is in the vectors

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Read the vectors; a document whose vector is not finite counts as unhandled."""
        vectors = torch.from_numpy(stored[0].array("vector"))
        handled = np.array([n for n in range(len(corpus)) if n not in stored[0].unhandled], dtype=np.int64)
        finite = vectors.isfinite().all(1).numpy()
        self.unhandled = stored[0].unhandled | {int(n): "its vector is not finite" for n in handled[~finite]}
        self._count, self._handled, self._vectors = len(corpus), handled[finite], vectors[torch.from_numpy(finite)]
        self._place = {int(number): place for place, number in enumerate(self._handled)}

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One product per query."""
        block = []
        for number in numbers:
            scores = np.full(self._count, -np.inf)
            query = VectorOnly(self._vectors[self._place[number]])
            scores[self._handled] = self.encoder.score(query, self._vectors)
            block.append(scores)
        return block
