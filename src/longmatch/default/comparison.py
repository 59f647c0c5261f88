"""A query and its candidates by column, and every formula that a side is computed by.

A lone pair, a collection in memory, a library on disk and an evaluation's corpus each fill `Candidates`; so a side is
computed alike wherever documents lie.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from longmatch.default.encoding import Encoding
from longmatch.default.term_rarity import TermRarity
from longmatch.lexical.links import RatedTerms
from longmatch.lexical.mentions import TITLE_TERMS, coupling
from longmatch.lexical.terms import KINDS, Counts, Flags, Hashes, Ints, Kind, Terms, lookup
from longmatch.lexical.weights import Postings, QueryTerms
from longmatch.matching.levels import SIZES
from longmatch.ragged import Array, Floats, as_numbers, segment_ids

TermColumn = Literal["words", "phrases", "title_words"]
TERM_COLUMNS: tuple[TermColumn, ...] = (*KINDS, "title_words")

TITLE_COSINE = 0.4  # up to which a sentence says something else than a title
SHORT_QUERY = (0.125, 0.25)  # share of the usual words up to which a query is a question, from which a document
LENGTH_SLOPE = 0.35  # how far a candidate's own length counts for a question, beside the usual length


@dataclass(frozen=True)
class CountedTerms:
    """A document's words or phrases, and in how many documents of its collection and of background text they occur."""

    counts: Counts
    documents: Floats
    background: Floats


@dataclass(frozen=True)
class WeighedDocument:
    """An encoding, and how rare its terms are in a collection: what every comparison with it needs, computed once."""

    encoding: Encoding
    rarity: TermRarity
    counted: Callable[[Kind], CountedTerms] | None = None
    """Its words or phrases, where they are counted already."""

    @property
    def id(self) -> str:
        """The document's id."""
        return self.encoding.document.id

    @property
    def size(self) -> int:
        """Bytes, roughly: vectors, the text with its structure, running and distinct terms with their weights."""
        vectors = len(self.encoding) * 4 * (len(self.encoding.vector) + len(SIZES))
        return int(vectors + 2 * len(self.encoding.document.text) + 180 * self.encoding.words)

    @cached_property
    def weighed(self) -> dict[Kind, tuple[Counts, Floats]]:
        """The distinct words and phrases, how often it has each, and how rare each is."""
        found: dict[Kind, tuple[Counts, Floats]] = {}
        for kind in KINDS:
            rarity = self.rarity.idf(kind)
            if self.counted is None:
                counts = self.encoding.terms.of(kind).counts
                found[kind] = counts, rarity.idf(counts.ids)
            else:
                known = self.counted(kind)
                found[kind] = known.counts, rarity.idf_of(rarity.share_of(known.documents, known.background))
        return found

    @cached_property
    def rated(self) -> list[RatedTerms]:
        """Its words and its phrases, each with its rarity."""
        return [RatedTerms(self.encoding.terms.of(kind), self.weighed[kind][1]) for kind in KINDS]

    @cached_property
    def distinctive(self) -> Flags:
        """Which sentences are no boilerplate."""
        return distinctive_sentences(self.encoding.terms, np.array([0, len(self.encoding)]), self.rarity)


def distinctive_sentences(terms: Terms, documents: Ints, rarity: TermRarity) -> Flags:
    """Which sentences have a phrase that is not common: the others are boilerplate, no evidence by their meaning.

    `documents` are the offsets of the documents' sentences. If a document is all boilerplate, every sentence counts.
    """
    phrases = terms.phrases
    common = rarity.boilerplate.find(phrases.ids)
    rare = np.diff(phrases.offsets) > np.bincount(phrases.sentence[common], minlength=len(phrases.offsets) - 1)
    home = segment_ids(documents)
    nothing = np.bincount(home, rare, len(documents) - 1) == 0
    return np.asarray(rare | nothing[home])


@dataclass(frozen=True)
class Query:
    """A document to compare others with; its terms are weighed by the whole collection when they are first needed."""

    id: str
    words: int  # running
    counts: Mapping[Kind, Counts]
    title_words: Counts
    title_terms: Hashes
    vector: npt.NDArray[np.float32]
    language: str  # its two-letter code
    rarity: TermRarity
    document: WeighedDocument | None = None  # None where terms and vector are enough
    stored_id: str | None = None  # of the library's document that it is, if it is one

    @staticmethod
    def of(document: WeighedDocument, stored_id: str | None = None) -> "Query":
        """A document that is encoded."""
        encoding = document.encoding
        return Query(
            encoding.document.id,
            encoding.words,
            {kind: counts for kind, (counts, _) in document.weighed.items()},
            encoding.title_words,
            encoding.title_terms,
            encoding.vector,
            encoding.document.language,
            document.rarity,
            document,
            stored_id,
        )

    @property
    def encoding(self) -> Encoding:
        """The encoding of a query that has one."""
        if self.document is None:
            raise ValueError(f"{self.id} was read for its terms alone")
        return self.document.encoding

    @cached_property
    def terms(self) -> Mapping[Kind, QueryTerms]:
        """Words and phrases with their weights, the terms of the title among them."""
        known = {kind: idf for kind, (_, idf) in self.document.weighed.items()} if self.document else {}
        return {
            kind: QueryTerms.of(self.counts[kind], self.rarity.idf(kind), self.title_terms, known.get(kind))
            for kind in KINDS
        }


class Candidates(ABC):
    """Documents by column, an entry each; a column is read when a side asks for it."""

    lengths: Ints  # running words
    languages: npt.NDArray[np.str_]  # two-letter codes
    titles: Hashes  # the terms of a text that mentions each document: (candidates, TITLE_TERMS)

    @property
    @abstractmethod
    def vectors(self) -> Array:
        """The documents' vectors, of length 1: (candidates, width)."""

    @property
    @abstractmethod
    def title_vectors(self) -> Array:
        """What the backbone makes of the titles, zeros for no title: (candidates, width)."""

    @abstractmethod
    def find(self, column: TermColumn, terms: Hashes) -> Postings:
        """How often the documents have some sorted terms among their words, phrases, or the words of their titles."""

    @abstractmethod
    def norms(self, column: TermColumn) -> Floats:
        """The lengths of the TF-IDF vectors of the documents' words, phrases, or words of their titles."""


@dataclass(frozen=True)
class Comparison:
    """A query and its candidates: the sides read this and nothing else. Arrays have an entry per candidate."""

    query: Query
    candidates: Candidates

    @cached_property
    def postings(self) -> dict[Kind, Postings]:
        """The words and phrases of the candidates that the query has too, or that its title has."""
        return {kind: self.candidates.find(kind, self.query.terms[kind].ids) for kind in KINDS}

    def term_cosines(self, kind: Kind) -> Floats:
        """Cosines of the TF-IDF weights of words or phrases."""
        return self.query.terms[kind].cosines(self.postings[kind], self.candidates.norms(kind))

    def meaning_cosines(self) -> Floats:
        """Cosines of the documents' vectors in the space of the collection."""
        space = self.query.rarity.space
        return as_numbers(space.place(self.candidates.vectors) @ space.place(self.query.vector))

    def title_cosines(self) -> Floats:
        """Cosines of the candidates' titles with the query's words."""
        words = self.query.terms["words"]
        return words.cosines(self.candidates.find("title_words", words.ids), self.candidates.norms("title_words"))

    def query_title_cosines(self) -> Floats:
        """Cosines of the query's title with the candidates' words."""
        title = QueryTerms.of(self.query.title_words, self.query.rarity.words)
        return title.cosines(self.candidates.find("words", title.ids), self.candidates.norms("words"))

    def title_closeness(self) -> Floats:
        """How far the sentence of the query that is nearest to a title lies above TITLE_COSINE.

        It is 0 without a title: a sentence close to a title speaks for a candidate, and its absence not against it.
        """
        cosines = self.query.encoding.vectors.rows @ self.candidates.title_vectors.T
        nearest = as_numbers(cosines.max(axis=0, initial=0.0))
        return np.asarray(((nearest - TITLE_COSINE) / (1 - TITLE_COSINE)).clip(min=0))

    def coupling(self) -> Floats:
        """How many documents of the collection both mention by title (`longmatch.lexical.mentions.coupling`)."""
        query, rarity, titles = self.query, self.query.rarity, self.candidates.titles
        terms = np.union1d(*(query.terms[kind].ids for kind in KINDS))  # those of the title among them
        mentions = rarity.titles.mentioned(terms, query.title_terms[None])
        documents, found = [np.repeat(np.arange(len(titles)), TITLE_TERMS)], [titles.ravel()]  # each has its own title
        for kind, postings in self.postings.items():
            ids = query.terms[kind].ids
            wanted = lookup(mentions.ids, ids)[1][postings.term]
            documents.append(postings.document[wanted])
            found.append(ids[postings.term[wanted]])
        shared = mentions.in_documents(np.concatenate(documents), np.concatenate(found))
        return coupling(*shared, rarity.of_mentions(mentions), query.words, self.candidates.lengths)

    def length_correction(self) -> Floats:
        """By how much a short query should multiply the cosines with each candidate."""
        return length_correction(self.query.words, self.candidates.lengths, self.query.rarity.usual_words)


def length_correction(query_words: int, candidate_words: npt.ArrayLike, usual_words: float) -> Floats:
    """By how much a short query should multiply the cosines with each candidate; 1 for a candidate of usual length.

    A cosine divides by a document's length. For a short query that is too much, as what else a long document holds does
    not speak against it: it should divide by (1 - slope) usual + slope own (Singhal et al., Pivoted document length
    normalization, 1996). The length of a vector grows with the square root of the number of words.
    """
    if not usual_words:
        return np.ones_like(candidate_words, dtype=np.float64)
    slope = np.interp(query_words / usual_words, SHORT_QUERY, (LENGTH_SLOPE, 1))
    own = np.sqrt(np.maximum(candidate_words, 1) / usual_words)
    return np.asarray(own / (1 - slope + slope * own))
