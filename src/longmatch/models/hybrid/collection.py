"""Many encodings laid out flat, so that one query is scored against all of them by products and reductions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from longmatch.encoders.ragged import offsets_of, segment_mean
from longmatch.matching.calibration import Calibration
from longmatch.matching.levels import Side, collection_scores
from longmatch.models.background import Statistics
from longmatch.models.hybrid.encoding import Encoding
from longmatch.models.lexical.frequencies import Blend, Frequencies
from longmatch.models.lexical.terms import Counts, Stream
from longmatch.models.lexical.weights import Idf, TermMatrix, tfidf

Floats = npt.NDArray[np.float64]

WORTH = 200.0  # how many documents of the collection the background text counts for
PHRASE_POWER = 1.5  # rare phrases are quotations: they weigh more than rarity alone says
LEAST_WORTH = 1.0  # in a language it does not know, so that what every sentence holds still weighs something
FAMILIAR = (0.4, 0.8)  # share of known words up to which the language is a foreign one, from which it is known
FEW = 20  # documents that cannot tell by themselves which words are common


@dataclass(frozen=True)
class Rarity:
    """How rare words and phrases are in the documents at hand, and how well their language is known."""

    words: Idf
    phrases: Idf
    familiarity: float = 1.0  # share of the running words that the background text knows

    def calibration(self, statistics: Statistics) -> Calibration:
        """The shipped calibration, as far as background and backbone know the language."""
        return calibration_for(self.familiarity, statistics)

    @staticmethod
    def of(encodings: Sequence[Encoding], statistics: Statistics) -> "Rarity":
        """From the documents themselves, with the background as a prior as far as it knows their words."""
        familiarity = _familiarity(encodings, statistics.words)
        split = len(encodings) < FEW and familiarity < 0.5  # then sentences stand in for documents
        words = Frequencies.of(c for e in encodings for c in _texts(e.terms.words, split))
        phrases = Frequencies.of(c for e in encodings for c in _texts(e.terms.phrases, split))
        worth = max(LEAST_WORTH, WORTH * familiarity)
        return Rarity(
            Blend(words, statistics.words, worth),
            Blend(phrases, statistics.phrases, worth, power=PHRASE_POWER),
            familiarity,
        )


def calibration_for(familiarity: float, statistics: Statistics) -> Calibration:
    """The shipped calibration, trusted as far as that share of known words tells that the language is known."""
    return statistics.calibration.trusting(float(np.interp(familiarity, FAMILIAR, (0, 1))))


def _texts(stream: Stream, split: bool) -> list[Counts]:
    return stream.sentence_counts() if split else [stream.counts]


def _familiarity(encodings: Sequence[Encoding], background: Frequencies) -> float:
    """The share of the running words that the background text knows: near 1 in its language, near 0 in others."""
    known = total = 0
    for encoding in encodings:
        counts = encoding.terms.words.counts
        total += int(counts.counts.sum())
        known += int(counts.counts[background(counts.ids) > 0].sum())
    return known / total if total else 1.0


@dataclass(frozen=True)
class Collection:
    """A collection's sentences and terms."""

    encodings: Sequence[Encoding]
    sentences: Side  # of all documents, one after another
    offsets: Tensor  # where each document's sentences begin
    rarity: Rarity
    words: TermMatrix
    phrases: TermMatrix

    @staticmethod
    def of(encodings: Sequence[Encoding], statistics: Statistics) -> "Collection":
        """Lay encodings out flat."""
        rarity = Rarity.of(encodings, statistics)
        return Collection(
            encodings,
            Side(torch.cat([e.side.vectors for e in encodings]), torch.cat([e.side.expectations for e in encodings])),
            offsets_of(torch.tensor([len(e) for e in encodings])),
            rarity,
            TermMatrix.of([tfidf(e.terms.words.counts, rarity.words) for e in encodings]),
            TermMatrix.of([tfidf(e.terms.phrases.counts, rarity.phrases) for e in encodings]),
        )

    @cached_property
    def titles(self) -> TermMatrix:
        """The words of the titles, as rare as in the documents."""
        return TermMatrix.of([tfidf(e.title, self.rarity.words) for e in self.encodings])

    @cached_property
    def means(self) -> Tensor:
        """The documents' mean sentence vectors, of length 1: (documents, width)."""
        return torch.nn.functional.normalize(segment_mean(self.sentences.vectors, self.offsets), dim=1)

    def sides(self, query: Encoding, names: Sequence[str]) -> dict[str, Floats]:
        """The raw similarity with every document on the sides asked for.

        - words, phrases: the cosine of their TF-IDF weights;
        - meaning: what each sentence's best partner has above chance;
        - topic: the cosine of the documents' mean sentence vectors;
        - title: the cosine of a document's title with the query's words; titled: of the query's title with its words.
        """
        return {name: self._side(name, query) for name in names}

    def _side(self, name: str, query: Encoding) -> Floats:
        rarity = self.rarity
        if name == "phrases":
            return self.phrases.scores(tfidf(query.terms.phrases.counts, rarity.phrases))
        if name == "meaning":
            return _numbers(collection_scores(query.side, self.sentences, self.offsets))
        if name == "topic":
            return _numbers(self.means @ query.mean)
        if name == "titled":
            return self.words.scores(tfidf(query.title, rarity.words))
        asked = self.titles if name == "title" else self.words
        return asked.scores(tfidf(query.terms.words.counts, rarity.words))

    def scores(self, query: Encoding, statistics: Statistics) -> Floats:
        """The calibrated score of a query with every document."""
        calibration = self.rarity.calibration(statistics)
        return calibration.score(self.sides(query, calibration.sides))


def _numbers(values: Tensor) -> Floats:
    return np.asarray(values.double().cpu().numpy())
