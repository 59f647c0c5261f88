"""The default model's own score over a corpus: what users run, on words and vectors that are kept."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from longmatch.default.collection import Collection, sampled_unrelated
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.meaning import KnownVectors, encode_texts
from longmatch.default.rarity import Rarity
from longmatch.default.sides import named
from longmatch.default.unrelated import drawn_documents
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import meaning_layers, restore_stream, sentence_layer
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer, no_sentences
from longmatch.lab.store.files import StoredLayer
from longmatch.lexical.terms import KINDS, Stream, Terms
from longmatch.matching.levels import SentenceVectors
from longmatch.ragged import Array


class CorpusScorer(Scorer):
    """The default model over a corpus."""

    matcher: HybridMatcher

    def __init__(self, matcher: HybridMatcher) -> None:
        super().__init__(matcher)
        self.layers = (*meaning_layers(matcher.backbone), sentence_layer(matcher.backbone))
        self.facts = {"calibration": str(matcher.statistics.calibration)}  # orders documents; it is no probability
        self.sides: Sequence[str] = matcher.statistics.calibration.sides  # that are scored

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Weigh the terms of all documents."""
        vectors, words, self._sentences = stored
        self.unhandled = {id: why for layer in stored for id, why in layer.unhandled.items()}
        titled = bool({*named(lambda side: side.needs_titles), "named"} & set(self.sides))
        titles = corpus.titles if titled else [""] * len(corpus)
        nothing = _vectors(np.empty((0, self.matcher.backbone.width), np.float32))
        there = encode_texts(self.matcher.backbone, titles) if "cites_title" in self.sides else [None] * len(titles)
        found = zip(titles, there, vectors.documents("vector"), words.documents("words", "bounds"), strict=True)
        self._encodings = [
            Encoding(no_sentences(title), Terms(restore_stream(stream)), nothing, near, vector["vector"].sum(0))
            for title, near, vector, stream in found
        ]
        handled = [self._encodings[number] for number in range(len(corpus)) if number not in self.unhandled]
        rarity = Rarity.of(handled, self.matcher.statistics)
        drawn = [handled[i] for i in drawn_documents(len(handled))]
        rarity = replace(rarity, unrelated=sampled_unrelated(drawn, rarity, len(handled)))
        self.candidates = Collection(self._encodings, rarity)
        for kind in KINDS:
            self.candidates.norms(kind)
        self._encodings = [
            replace(e, terms=Terms(Stream(e.terms.words.ids, e.terms.words.offsets))) for e in self._encodings
        ]
        self.candidates.encodings = self._encodings  # without their phrases

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One query at a time, as in memory."""
        return [self.matcher.score(self.encoding(number), self.candidates) for number in numbers]

    def encoding(self, number: int) -> Encoding:
        """A document by its number, with the vectors of its sentences."""
        vectors = self._sentences.document(number, "vectors")["vectors"].astype(np.float32)
        return replace(self._encodings[number], vectors=_vectors(vectors))


def _vectors(sentences: Array) -> KnownVectors:
    """Of sentences of which nobody asks what chance would offer."""
    return KnownVectors(SentenceVectors(sentences, np.empty((len(sentences), 0), np.float32)))
