"""Many encodings laid out flat, so that one query is scored against all of them by products and reductions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from longmatch.default.calibration import Calibration
from longmatch.default.encoding import Encoding
from longmatch.default.statistics import Statistics
from longmatch.encoders.ragged import offsets_of, segment_mean
from longmatch.lexical.frequencies import Blend, Frequencies
from longmatch.lexical.mentions import NOTHING, TERMS, Names, Titles, coupling, own_terms, stacked
from longmatch.lexical.terms import Counts, Hashes, Stream
from longmatch.lexical.weights import Idf, TermMatrix, tfidf
from longmatch.matching.levels import SentenceVectors, collection_scores

Floats = npt.NDArray[np.float64]

WORTH = 200.0  # how many documents of the collection the background text counts for
PHRASE_POWER = (1.0, 3.0)  # of rarity, in a language not known and in a known one: there rare phrases are quotations
LEAST_WORTH = 1.0  # in a language it does not know, so that what every sentence holds still weighs something
FAMILIAR = (0.4, 0.8)  # share of known words up to which the language is a foreign one, from which it is known
FEW = 20  # documents that cannot tell by themselves which words are common, and which lengths
SAYING = 3  # sentences that must say what a title does: one may do so by chance
SAID = 0.5  # cosine up to which a sentence says something else
SHORT = (0.125, 0.25)  # share of a usual document's words up to which a query is a question, from which a document
SLOPE = 0.35  # how far a document's own length counts for a question, beside the usual one
MANY = (50, 200)  # documents up to which one seldom speaks of another, from which they may
TELLING = (1.5, 2.5)  # terms of the usual title up to which titles are names, from which they say what a text is about


@dataclass(frozen=True)
class Rarity:
    """How rare words, phrases and titles are in the documents at hand, and how well their language is known."""

    words: Idf
    phrases: Idf
    familiarity: float  # share of the running words that the background text knows
    titles: Titles
    length: float  # words of the usual document; 0 where too few are known

    def calibration(self, statistics: Statistics) -> Calibration:
        """The shipped calibration, as far as it can be trusted here."""
        return statistics.calibration.trusting(*self.trust)

    @property
    def trust(self) -> tuple[float, float]:
        """How far the language is known, and how much titles say."""
        return trust_in(self.familiarity, self.titles)

    def of_names(self, names: Names) -> Floats:
        """How rare each title is, from 0 to 1: as its rarest term, or as documents that have it for a title."""
        terms = names.terms.ravel()
        idf = np.minimum(self.words.idf(terms), self.phrases.idf(terms) ** (1 / phrase_power(self.familiarity)))
        most = self.words.idf(np.array([NOTHING], dtype=np.uint64))[0]  # ln(1 + n)
        rarest = idf.reshape(-1, TERMS).max(axis=1)
        return np.asarray(np.clip(np.minimum(rarest, most - np.log(1 + names.titled)) / most, 0, 1))

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
            Blend(phrases, statistics.phrases, worth, power=phrase_power(familiarity)),
            familiarity,
            Titles.of(stacked([e.name for e in encodings])),
            usual_length(np.array([e.words for e in encodings])),
        )


def trust_in(familiarity: float, titles: Titles) -> tuple[float, float]:
    """How far the language of documents is known, by the share of their words that are, and how much titles say.

    Titles of one or two words are names; longer ones say what a text is about, and in a large collection documents
    speak of each other. What titles are worth was learnt in known languages, so it counts in those.
    """
    known = float(np.interp(familiarity, FAMILIAR, (0, 1)))
    said = np.interp(titles.usual, TELLING, (0, 1)) * np.interp(len(titles), MANY, (0, 1))
    return known, known * float(said)


def usual_length(words: npt.NDArray[np.int64]) -> float:
    """The mean of documents' numbers of words; 0 of a few documents, which cannot tell what is usual."""
    return float(words.mean()) if len(words) >= FEW else 0.0


def length_lift(asked: int, words: npt.ArrayLike, usual: float) -> Floats:
    """What a query of so many words should have of documents with these many, as a multiple of the cosine.

    A cosine divides by a document's length. For a short query that is too much, as what else a long document holds does
    not speak against it: there it is to be divided by (1 - slope) usual + slope own (Singhal et al., Pivoted document
    length normalization, 1996). The length of a vector goes with the root of the number of words.
    """
    if not usual:
        return np.ones_like(words, dtype=np.float64)
    slope = np.interp(asked / usual, SHORT, (SLOPE, 1))
    own = np.sqrt(np.maximum(words, 1) / usual)
    return np.asarray(own / (1 - slope + slope * own))


def phrase_power(familiarity: float) -> float:
    """To which power the rarity of phrases is taken, by the share of the words that are known."""
    return float(np.interp(familiarity, FAMILIAR, PHRASE_POWER))


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
    sentences: SentenceVectors  # of all documents, one after another
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
            SentenceVectors.cat([e.sentence_vectors for e in encodings]),
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
    def title_vectors(self) -> Tensor:
        """What the backbone makes of the titles: (documents, width)."""
        return stacked_titles([e.title_vector for e in self.encodings], self.sentences.vectors)

    @cached_property
    def names(self) -> Hashes:
        """The terms by which texts name the documents."""
        return stacked([e.name for e in self.encodings])

    @cached_property
    def means(self) -> Tensor:
        """The documents' mean sentence vectors, of length 1: (documents, width)."""
        return torch.nn.functional.normalize(segment_mean(self.sentences.vectors, self.offsets), dim=1)

    def sides(self, query: Encoding, names: Sequence[str]) -> dict[str, Floats]:
        """The raw similarity with every document on the sides asked for.

        - words, phrases: the cosine of their TF-IDF weights;
        - meaning: what each sentence's best partner has above chance;
        - topic: the cosine of the documents' mean sentence vectors;
        - title: the cosine of a document's title with the query's words; titled: of the query's title with its words;
        - told: how near the three nearest sentences of the query come to a document's title;
        - named: which documents of the collection both name by their titles;
        - length: how much more of a document's cosines a short query should have.
        """
        return {name: self._side(name, query) for name in names}

    def _side(self, name: str, query: Encoding) -> Floats:
        rarity = self.rarity
        if name == "phrases":
            return self.phrases.scores(tfidf(query.terms.phrases.counts, rarity.phrases))
        if name == "meaning":
            return _numbers(collection_scores(query.sentence_vectors, self.sentences, self.offsets))
        if name == "topic":
            return _numbers(self.means @ query.mean)
        if name == "told":
            return told_scores(query.sentence_vectors.vectors, self.title_vectors)
        if name == "named":
            return self._named(query)
        if name == "length":
            return length_lift(query.words, [e.words for e in self.encodings], rarity.length)
        if name == "titled":
            return self.words.scores(tfidf(query.title, rarity.words))
        asked = self.titles if name == "title" else self.words
        return asked.scores(tfidf(query.terms.words.counts, rarity.words))

    def _named(self, query: Encoding) -> Floats:
        names = self.rarity.titles.named(query.held, stacked([query.name]))
        held = (self.words.holders(names.ids), self.phrases.holders(names.ids), own_terms(self.names))
        documents, terms = (np.concatenate(parts) for parts in zip(*held, strict=True))
        found = names.found(documents, terms, len(self.encodings))
        lengths = np.array([e.words for e in self.encodings])
        return coupling(found, self.rarity.of_names(names), query.words, lengths)

    def scores(self, query: Encoding, statistics: Statistics) -> Floats:
        """The calibrated score of a query with every document."""
        calibration = self.rarity.calibration(statistics)
        return calibration.score(self.sides(query, calibration.sides))


def stacked_titles(titles: Sequence[Tensor | None], like: Tensor) -> Tensor:
    """The vectors of titles below each other, zeros where there is none, as numbers like those of the sentences."""
    nothing = like.new_zeros(like.shape[1])
    return torch.stack([nothing if title is None else title.to(like) for title in titles])


def told_scores(sentences: Tensor, titles: Tensor) -> Floats:
    """How far the mean of the SAYING best cosines of sentences (sentences, width) with each title lies above SAID.

    From 0, as for no title, to 1. So what is told speaks for a document, and what is not does not speak against it.
    """
    best = (sentences @ titles.T).topk(min(SAYING, len(sentences)), dim=0).values.mean(0)
    return _numbers(((best - SAID) / (1 - SAID)).clamp(min=0))


def _numbers(values: Tensor) -> Floats:
    return np.asarray(values.double().cpu().numpy())
