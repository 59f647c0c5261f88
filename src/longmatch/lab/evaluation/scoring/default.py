"""The default model's score, slice by slice, with the rarity of words in the whole corpus."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longmatch.default.calibration import NEEDS_TITLES
from longmatch.default.collection import Collection, sampled_unrelated
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.rarity import Rarity
from longmatch.default.unrelated import Unrelated, drawn_documents
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import (
    ExpectationLayer,
    PieceWordLayer,
    SentenceVectorLayer,
    restore_stream,
    scoring_device,
)
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer, no_sentences
from longmatch.lab.evaluation.scoring.slices import Slice, slices_of
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.layer import Layer
from longmatch.lexical.terms import Stream, Terms
from longmatch.lexical.weights import TermMatrix, tfidf
from longmatch.matching.levels import SentenceVectors
from longmatch.matching.sentence_vectors import title_vectors


class DefaultScorer(Scorer):
    """Terms stay in memory as sparse matrices; vectors are read slice by slice."""

    matcher: HybridMatcher

    @property
    def layers(self) -> Sequence[Layer]:
        """Sentence vectors, their expected similarity by chance, and the words of the same pieces."""
        vectors = SentenceVectorLayer(self.matcher.backbone)
        return (
            vectors,
            ExpectationLayer(vectors, self.matcher.statistics.sentences),
            PieceWordLayer(self.matcher.backbone),
        )

    @property
    def facts(self) -> Mapping[str, Any]:
        """The calibration of the score that orders documents, which is not a probability."""
        return {"calibration": str(self.matcher.statistics.calibration)}

    @property
    def sides(self) -> Sequence[str]:
        """The sides that are scored."""
        return self.matcher.statistics.calibration.sides

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Weigh the terms of all documents."""
        self._vectors, self._chance, self._words = stored
        self.unhandled = {id: why for layer in stored for id, why in layer.unhandled.items()}
        words = [restore_stream(arrays) for arrays in self._words.documents("words", "bounds")]
        self._titles = self._titles_of(corpus)
        self._title_vectors = self._vectors_of(self._titles)
        handled = [self._encoding(stream, self._titles[n]) for n, stream in enumerate(words) if n not in self.unhandled]
        rarity = Rarity.of(handled, self.matcher.statistics)
        numbers = [n for n in range(len(words)) if n not in self.unhandled]
        self._rarity = replace(rarity, unrelated=self._unrelated(numbers, rarity))
        del handled  # and its phrases
        self._slices = slices_of(self._vectors)
        self._terms = [self._weigh(words[part.first : part.last], part.first) for part in self._slices]
        self._loaded: Collection | None = None

    def _unrelated(self, numbers: Sequence[int], rarity: Rarity) -> Unrelated:
        """What unrelated documents have in common, by those that a collection in memory draws too."""
        some = [self._query(numbers[i]) for i in drawn_documents(len(numbers))]
        return sampled_unrelated(some, rarity, self.matcher.statistics, len(numbers))

    def _titles_of(self, corpus: Corpus) -> Sequence[str]:
        """Read only if a side needs them."""
        if not {*NEEDS_TITLES, "named"} & set(self.sides):
            return [""] * len(corpus)
        return corpus.titles

    def _vectors_of(self, titles: Sequence[str]) -> Sequence[Tensor | None]:
        """Computed only if a side needs them."""
        if "cites_title" not in self.sides:
            return [None] * len(titles)
        return torch.from_numpy(title_vectors(titles, self.matcher.backbone)).to(scoring_device()).unbind()

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """Each slice is read once for all queries of the block."""
        queries = [self._query(number) for number in numbers]
        parts: list[list[Floats]] = [[] for _ in numbers]
        for index in range(len(self._slices)):
            collection = self._collection(index)
            for query, scores in zip(queries, parts, strict=True):
                scores.append(self.matcher.score(query, collection))
        return [np.concatenate(scores) for scores in parts]

    def _query(self, number: int) -> Encoding:
        device = scoring_device()
        vectors = torch.from_numpy(self._vectors.document(number, "vectors")["vectors"]).to(device, torch.float32)
        expectations = torch.from_numpy(self._chance.document(number, "expectations")["expectations"]).to(device)
        return Encoding(
            no_sentences(self._titles[number]),
            SentenceVectors(vectors, expectations),
            Terms(restore_stream(self._words.document(number, "words", "bounds"))),
            self._title_vectors[number],
        )

    def _collection(self, index: int) -> Collection:
        """A slice in the form the score takes; a single slice stays loaded."""
        if self._loaded is not None:
            return self._loaded
        part, (encodings, words, phrases) = self._slices[index], self._terms[index]
        sentences = SentenceVectors(part.vectors(), self._expectations(part))
        collection = Collection(encodings, sentences, part.offsets(), self._rarity, words, phrases)
        if len(self._slices) == 1:
            self._loaded = collection
        return collection

    def _expectations(self, part: Slice) -> Tensor:
        return torch.from_numpy(self._chance.array("expectations", part.first, part.last)).to(scoring_device())

    def _weigh(self, words: Sequence[Stream], first: int) -> tuple[list[Encoding], TermMatrix, TermMatrix]:
        encodings = [self._encoding(stream) for stream in words]
        terms = [e.terms for e in encodings]
        matrices = (
            TermMatrix.of([tfidf(t.words.counts, self._rarity.words) for t in terms]),
            TermMatrix.of([tfidf(t.phrases.counts, self._rarity.phrases) for t in terms]),
        )
        titled = zip(self._titles[first:], self._title_vectors[first:], words, strict=False)
        return [self._encoding(stream, title, vector) for title, vector, stream in titled], *matrices

    def _encoding(self, stream: Stream, title: str = "", vector: Tensor | None = None) -> Encoding:
        """An encoding of terms alone."""
        nothing = torch.empty(0)
        terms = Terms(Stream(stream.ids, stream.offsets))
        return Encoding(no_sentences(title), SentenceVectors(nothing, nothing), terms, vector)
