"""The default model's own score over a corpus: the corpus fills its candidates, whose sentences are read in slices."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from longmatch.default.collection import Collection, sampled_unrelated
from longmatch.default.comparison import TITLE_SENTENCES
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import encode_texts
from longmatch.default.rarity import Rarity
from longmatch.default.sides import named
from longmatch.default.unrelated import drawn_documents
from longmatch.lab.encoders.ragged import as_array
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import (
    ExpectationLayer,
    restore_stream,
    scoring_device,
    sentence_layers,
)
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer, no_sentences
from longmatch.lab.evaluation.scoring.slices import LoadedSlices, Slice
from longmatch.lab.store.files import StoredLayer
from longmatch.lexical.terms import KINDS, Stream, Terms
from longmatch.matching.levels import SentenceVectors, collection_scores
from longmatch.ragged import Array, as_numbers, segment_mean, unit_rows


class CorpusCandidates(Collection):
    """The documents of a corpus: terms in memory, sentences on disk, compared with a block of queries on the device."""

    def __init__(
        self, encodings: Sequence[Encoding], rarity: Rarity, vectors: StoredLayer, chance: StoredLayer
    ) -> None:
        super().__init__(encodings, rarity)
        self._chance, self.slices = chance, LoadedSlices(vectors, self._sentences)
        self._compared: list[tuple[SentenceVectors, Floats]] = []  # of the last block

    def compare_sentences(self, queries: Sequence[Encoding]) -> None:
        """Compare the sentences of all documents with those of some queries: each slice is read once for all."""
        parts: list[list[Floats]] = [[] for _ in queries]
        there = [_on_device(query.sentence_vectors) for query in queries]
        for _, sentences in self.slices:
            for query, scores in zip(there, parts, strict=True):
                scores.append(as_numbers(collection_scores(query, *sentences)))
        self._compared = [(q.sentence_vectors, np.concatenate(s)) for q, s in zip(queries, parts, strict=True)]

    def sentence_scores(self, query: SentenceVectors) -> Floats:
        """Of a query whose sentences were compared."""
        return next(scores for compared, scores in self._compared if compared is query)

    def nearest_sentences(self, query: SentenceVectors) -> Floats:
        """The mean of the best cosines of query sentences with each title."""
        cosines = torch.from_numpy(query.vectors).to(scoring_device()) @ self._titles_there.T
        return as_numbers(as_array(cosines.sort(0).values[-TITLE_SENTENCES:].mean(0)))

    @cached_property
    def vectors(self) -> Array:
        """The documents' mean sentence vectors, of length 1: (documents, width)."""
        means = (segment_mean(sentences.vectors, offsets) for _, (sentences, offsets) in self.slices)
        return np.concatenate([as_numbers(unit_rows(mean)) for mean in means]).astype(np.float32)

    @cached_property
    def _titles_there(self) -> Tensor:
        return torch.from_numpy(self.title_vectors).to(scoring_device())

    def _sentences(self, part: Slice) -> tuple[SentenceVectors, Array]:
        """A slice on the device."""
        expectations = torch.from_numpy(self._chance.array("expectations", part.first, part.last))
        there = part.vectors(), expectations.to(scoring_device())
        return SentenceVectors(*map(as_array, there)), as_array(part.offsets())


def _on_device(sentences: SentenceVectors) -> SentenceVectors:
    there = (torch.from_numpy(each).to(scoring_device()) for each in (sentences.vectors, sentences.expectations))
    return SentenceVectors(*map(as_array, there))


class CorpusScorer(Scorer):
    """The default model over a corpus."""

    matcher: HybridMatcher

    def __init__(self, matcher: HybridMatcher) -> None:
        super().__init__(matcher)
        vectors, words = sentence_layers(matcher.backbone)
        expectations = ExpectationLayer(vectors, matcher.statistics.sentences)
        self.layers = (vectors, expectations, words)
        self.facts = {"calibration": str(matcher.statistics.calibration)}  # orders documents; it is no probability
        self.sides: Sequence[str] = matcher.statistics.calibration.sides  # that are scored

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Weigh the terms of all documents."""
        self._vectors, self._chance, stored_words = stored
        self.unhandled = {id: why for layer in stored for id, why in layer.unhandled.items()}
        titled = bool({*named(lambda side: side.needs_titles), "named"} & set(self.sides))
        titles = corpus.titles if titled else [""] * len(corpus)
        there = encode_texts(self.matcher.backbone, titles) if "cites_title" in self.sides else [None] * len(titles)
        nothing = SentenceVectors(np.empty((0, self.matcher.backbone.width), np.float32), np.empty(0))
        self._encodings = [
            Encoding(no_sentences(title), nothing, Terms(restore_stream(arrays)), vector)
            for title, vector, arrays in zip(titles, there, stored_words.documents("words", "bounds"), strict=True)
        ]
        numbers = [number for number in range(len(corpus)) if number not in self.unhandled]
        rarity = Rarity.of([self._encodings[number] for number in numbers], self.matcher.statistics)
        drawn = [self.encoding(numbers[i]) for i in drawn_documents(len(numbers))]
        rarity = replace(rarity, unrelated=sampled_unrelated(drawn, rarity, len(numbers)))
        self.candidates = CorpusCandidates(self._encodings, rarity, self._vectors, self._chance)
        for kind in KINDS:
            self.candidates.norms(kind)
        self._encodings = [
            replace(e, terms=Terms(Stream(e.terms.words.ids, e.terms.words.offsets))) for e in self._encodings
        ]
        self.candidates.encodings = self._encodings  # without their phrases

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """As in memory; each slice of sentences is read once for all queries of the block."""
        queries = [self.encoding(number) for number in numbers]
        self.candidates.compare_sentences(queries)
        return [self.matcher.score(query, self.candidates) for query in queries]

    def encoding(self, number: int) -> Encoding:
        """A document with its sentences."""
        vectors = self._vectors.document(number, "vectors")["vectors"].astype(np.float32)
        expectations = self._chance.document(number, "expectations")["expectations"]
        return replace(self._encodings[number], vectors=SentenceVectors(vectors, expectations))
