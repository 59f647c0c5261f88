"""Many encodings laid out flat, so that one query is scored against all of them by products and reductions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longmatch.default.calibration import NEEDS_LANGUAGE
from longmatch.default.encoding import Encoding
from longmatch.default.rarity import Rarity, mentions_of, prior_of, unrelated_like
from longmatch.default.sides import Floats, similarities
from longmatch.default.statistics import Statistics
from longmatch.default.unrelated import SAMPLED_SIDES, Sample, Unrelated, drawn_documents
from longmatch.lexical.mentions import coupling, self_mentions, stack_titles
from longmatch.lexical.terms import Flags, Hashes, Ints, Kind
from longmatch.lexical.weights import TermMatrix, tfidf
from longmatch.matching.levels import SentenceVectors, collection_scores
from longmatch.ragged import Array, array_namespace, as_numbers, offsets_of, segment_mean, unit_rows

LEAST_DOCUMENTS = 4  # whose pairs say anything about their collection


@dataclass(frozen=True)
class Collection:
    """A collection's sentences and terms."""

    encodings: Sequence[Encoding]
    sentences: SentenceVectors  # of all documents, one after another
    offsets: Array  # where each document's sentences begin
    rarity: Rarity
    words: TermMatrix
    phrases: TermMatrix

    @staticmethod
    def of(encodings: Sequence[Encoding], statistics: Statistics) -> "Collection":
        """Lay encodings out flat, and see what random pairs of them have in common."""
        rarity = Rarity.of(encodings, statistics)
        sampled = sampled_unrelated(encodings, rarity, statistics)
        return Collection.with_rarity(encodings, replace(rarity, unrelated=sampled))

    @staticmethod
    def with_rarity(encodings: Sequence[Encoding], rarity: Rarity) -> "Collection":
        """Lay encodings out flat, their terms weighed by a rarity that is known."""
        sentences = SentenceVectors.cat([e.sentence_vectors for e in encodings])
        offsets = offsets_of(np.array([len(e.sentence_vectors) for e in encodings], dtype=np.int64))
        return Collection(
            encodings,
            sentences,
            array_namespace(sentences.vectors).asarray(offsets, device=sentences.vectors.device),
            rarity,
            TermMatrix.of([tfidf(e.terms.words.counts, rarity.words) for e in encodings]),
            TermMatrix.of([tfidf(e.terms.phrases.counts, rarity.phrases) for e in encodings]),
        )

    def terms(self, kind: Kind) -> TermMatrix:
        """The weights of words, or of phrases."""
        return self.words if kind == "words" else self.phrases

    @cached_property
    def titles(self) -> TermMatrix:
        """The words of the titles, as rare as in the documents."""
        return TermMatrix.of([tfidf(e.title_words, self.rarity.words) for e in self.encodings])

    @cached_property
    def title_terms(self) -> Hashes:
        """The terms of a text that mentions each document."""
        return stack_titles([e.title_terms for e in self.encodings])

    @cached_property
    def title_vectors(self) -> Array:
        """What the backbone makes of the titles: (documents, width)."""
        return stack_title_vectors([e.title_vector for e in self.encodings], self.sentences.vectors)

    @cached_property
    def vectors(self) -> Array:
        """The documents' mean sentence vectors, of length 1: (documents, width)."""
        return unit_rows(segment_mean(self.sentences.vectors, self.offsets))

    @cached_property
    def lengths(self) -> Ints:
        """The number of words of each document."""
        return np.array([e.words for e in self.encodings], dtype=np.int64)

    @cached_property
    def languages(self) -> npt.NDArray[np.str_]:
        """The language of each document, as its two-letter code."""
        return np.array([e.document.language for e in self.encodings], dtype=str)

    def similarities(self, query: Encoding, sides: Sequence[str]) -> dict[str, Floats]:
        """The similarity with every document on the sides asked for."""
        return similarities(CollectionComparison(query, self), sides)

    def scores(self, query: Encoding, statistics: Statistics) -> Floats:
        """The calibrated score of a query with every document."""
        calibration = self.rarity.calibration(statistics)
        return calibration.score(self.similarities(query, calibration.sides))

    def judge(self, query: Encoding, statistics: Statistics) -> tuple[Floats, Floats]:
        """The score of a query with every document, and the probability that the two belong together."""
        sides = self.rarity.sides(statistics)
        return self.rarity.judge(self.similarities(query, sides), query.words, self.lengths, statistics)


class CollectionComparison:
    """A query and all documents of a collection in memory, as the sides read them."""

    def __init__(self, query: Encoding, collection: Collection) -> None:
        self.query, self.collection = query, collection
        self.query_sentences, self.query_words = query.sentence_vectors.vectors, query.words
        self.usual_words = collection.rarity.usual_words

    @property
    def query_vector(self) -> Array:
        """The query's document vector: (width,)."""
        return self.query.mean

    @property
    def candidate_vectors(self) -> Array:
        """Document vectors: (documents, width)."""
        return self.collection.vectors

    @property
    def title_vectors(self) -> Array:
        """Vectors of the titles: (documents, width)."""
        return self.collection.title_vectors

    @property
    def same_language(self) -> Flags | None:
        """Which documents are in the query's language."""
        if self.collection.rarity.reads_english_alone:
            return None
        return np.asarray(self.collection.languages == self.query.document.language)

    @property
    def candidate_words(self) -> Ints:
        """The number of words of each document."""
        return self.collection.lengths

    def term_cosines(self, kind: Kind) -> Floats:
        """One sparse product."""
        weights = tfidf(self.query.terms.of(kind).counts, self.collection.rarity.idf(kind))
        return self.collection.terms(kind).scores(weights)

    def sentence_scores(self) -> Floats:
        """One product with the sentences of all documents."""
        return as_numbers(
            collection_scores(self.query.sentence_vectors, self.collection.sentences, self.collection.offsets)
        )

    def title_cosines(self) -> Floats:
        """The titles with the query's words."""
        words = tfidf(self.query.terms.words.counts, self.collection.rarity.words)
        return self.collection.titles.scores(words)

    def query_title_cosines(self) -> Floats:
        """The query's title with the words of each document."""
        return self.collection.words.scores(tfidf(self.query.title_words, self.collection.rarity.words))

    def coupling(self) -> Floats:
        """The titles that the query mentions, looked for in every document."""
        query, collection = self.query, self.collection
        mentions = mentions_of(query.all_terms, query.title_terms, collection.rarity)
        pairs = (
            collection.words.holders(mentions.ids),
            collection.phrases.holders(mentions.ids),
            self_mentions(collection.title_terms),
        )
        documents, terms = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        shared = mentions.in_documents(documents, terms, len(collection.encodings))
        return coupling(shared, collection.rarity.of_mentions(mentions), query.words, collection.lengths)


def stack_title_vectors(titles: Sequence[Array | None], like: Array) -> Array:
    """Vectors of titles as rows, zeros where there is none, in the precision of the sentences' vectors `like`."""
    xp = array_namespace(like)
    nothing = xp.zeros(like.shape[1], dtype=like.dtype, device=like.device)
    return xp.stack([nothing if title is None else xp.asarray(title, dtype=like.dtype) for title in titles])


def sampled_unrelated(
    encodings: Sequence[Encoding], rarity: Rarity, statistics: Statistics, documents: int | None = None
) -> Unrelated:
    """What unrelated documents have in common, by all pairs of at most SAMPLED documents drawn at random.

    `documents` is the size of the collection that the encodings were drawn from, where it is larger. Too few documents
    say nothing about their collection.
    """
    if len(encodings) < LEAST_DOCUMENTS:
        return prior_of(encodings, statistics)
    some = [encodings[i] for i in drawn_documents(len(encodings))]
    collection = Collection.with_rarity(some, rarity)
    language, _ = rarity.trust
    known = SAMPLED_SIDES if language else SAMPLED_SIDES - NEEDS_LANGUAGE
    sides = [name for name in statistics.probability.sides if name in known]
    rows = [collection.similarities(encoding, sides) for encoding in some]
    first, second = np.triu_indices(len(some), 1)
    values = {name: np.stack([row[name] for row in rows])[first, second] for name in sides}
    words = collection.lengths[first].astype(np.float64), collection.lengths[second].astype(np.float64)
    sample = Sample(values, np.minimum(*words), np.maximum(*words), documents or len(encodings))
    return unrelated_like(some, statistics, sample)
