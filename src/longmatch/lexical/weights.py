"""How rare terms are, and TF-IDF and BM25 weights of them: of one document, or of a collection as a sparse matrix.

How common words and phrases are in texts of many kinds is known by numbers that ship with longmatch (`TermBackground`).
`longmatch train default` makes them; they hold no text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file

from longmatch.lexical.terms import KINDS, Counts, Flags, Hashes, Ints, Kind, lookup
from longmatch.ragged import Floats, offsets_of, ranges

_NO_TERMS = np.empty(0, np.uint64)
_LOG_TF = np.concatenate([[0.0], 1 + np.log(np.arange(1, 1024))])
"""1 + ln tf of the counts that terms usually have: a table is quicker than a logarithm."""
FREQUENCIES = "frequencies.safetensors"
COMMON = 0.5  # share of the documents of one kind
FILE = Path(__file__).parent / "data" / FREQUENCIES


class TermFrequencies(Protocol):
    """In how many documents of a collection a term occurs."""

    @property
    def documents(self) -> float:
        """The number of documents."""

    def __call__(self, terms: Hashes) -> Floats:
        """The number of documents each of the terms occurs in."""

    def frequent(self, count: float) -> Hashes:
        """All terms that occur in at least so many documents, and maybe others; in no particular order."""


@dataclass(frozen=True)
class Frequencies:
    """Document frequencies: the number of documents, and for each term (sorted hashes) in how many it occurs."""

    documents: float
    ids: Hashes
    counts: Floats

    @staticmethod
    def of(collection: Iterable[Counts]) -> "Frequencies":
        """Count the documents each term occurs in."""
        lists = [document.ids for document in collection]
        joined = np.concatenate(lists) if lists else np.empty(0, np.uint64)
        ids, counts = np.unique(joined, return_counts=True)
        return Frequencies(len(lists), ids, counts.astype(np.float64))

    def __call__(self, terms: Hashes) -> Floats:
        """The number of documents each of the terms occurs in, 0 for unknown ones."""
        position, present = lookup(self.ids, terms)
        return np.where(present, self.counts[position], 0.0) if len(self.ids) else np.zeros(len(terms))

    def share(self, terms: Hashes) -> Floats:
        """The share of the documents that each of the terms occurs in.

        >>> Frequencies(4, np.array([3, 7], np.uint64), np.array([1.0, 4.0])).share(np.array([7, 3, 5], np.uint64))
        array([1.  , 0.25, 0.  ])
        """
        return self(terms) / max(1.0, self.documents)

    def frequent(self, count: float) -> Hashes:
        """The terms that occur in at least so many documents."""
        return self.ids[self.counts >= count]

    def idf(self, terms: Hashes) -> Floats:
        """Inverse document frequency, as scikit-learn smooths it: ln((1 + n) / (1 + df)) + 1."""
        return np.log((1 + self.documents) / (1 + self(terms))) + 1


@dataclass(frozen=True)
class Blend:
    """A collection's frequencies with background text as a prior, worth `worth` documents.

    A folder of ten documents cannot tell common words from rare ones; ten thousand need no help.
    """

    collection: TermFrequencies
    background: Frequencies
    worth: float = 200.0
    power: float = 1.0
    scale: float | None = None  # documents among which a term is rare; by default those of both

    def share(self, terms: Hashes) -> Floats:
        """The share of documents that each term occurs in, of collection and prior."""
        if isinstance(self.collection, Frequencies):  # in memory: its own terms are asked for most
            position, present = lookup(self.collection.ids, terms)
            if present.all():
                return self._own_shares[position]
        return self.share_of(self.collection(terms), self.background(terms))

    def share_of(self, counts: Floats, background: Floats) -> Floats:
        """The same for terms that so many documents of the collection, and of the background, are known to have."""
        prior = self.worth * (background / max(1.0, self.background.documents))
        return (counts + prior) / (self.collection.documents + self.worth)

    @cached_property
    def _own_shares(self) -> Floats:
        """The shares of all terms of a collection in memory."""
        own = self.collection
        return self.share_of(own.counts, self.background(own.ids)) if isinstance(own, Frequencies) else np.empty(0)

    def common(self, share: float) -> Hashes:
        """All terms that occur in at least such a share of documents, sorted."""
        half = share * (self.collection.documents + self.worth) / 2  # of what collection or prior has to contribute
        prior = self.background.frequent(half / self.worth * self.background.documents) if self.worth else _NO_TERMS
        terms = np.unique(np.concatenate([self.collection.frequent(half), prior]))
        return terms[self.share(terms) >= share]

    def idf(self, terms: Hashes) -> Floats:
        """ln((1 + n) / (1 + n share)) to the power: a word found everywhere weighs nothing."""
        return self.idf_of(self.share(terms))

    def idf_of(self, share: Floats) -> Floats:
        """The idf of terms that such a share of documents has."""
        documents = self.collection.documents + self.worth if self.scale is None else self.scale
        return np.maximum(np.log((1 + documents) / (1 + documents * share)), 0.0) ** self.power


class Idf(Protocol):
    """Anything that weighs terms by their rarity."""

    def idf(self, terms: Hashes) -> Floats:
        """A weight for each term."""
        ...


@dataclass(frozen=True)
class Weighted:
    """A document's terms with their weights, or counts; TF-IDF weights have length 1."""

    ids: Hashes
    values: npt.NDArray[Any]

    def dot(self, other: "Weighted") -> float:
        """The sum over shared terms of the product of their weights."""
        position, present = lookup(other.ids, self.ids)
        return float(self.values[present] @ other.values[position[present]])


def log_tf(counts: npt.NDArray[np.generic]) -> Floats:
    """1 + ln tf, and 0 for a count of 0.

    >>> log_tf(np.array([0, 1, 3])).round(3)
    array([0.   , 1.   , 2.099])
    """
    numbers = np.asarray(counts)
    if numbers.dtype.kind in "iu" and numbers.max(initial=0) < len(_LOG_TF):
        return _LOG_TF.take(numbers.astype(np.int64, copy=False), mode="clip")
    return np.where(numbers > 0, 1 + np.log(np.maximum(numbers, 1)), 0.0)


def tfidf(counts: Counts, idf: Idf) -> Weighted:
    """(1 + ln tf) idf, divided by the length of the vector."""
    return Weighted(counts.ids, tfidf_values(counts.counts, idf.idf(counts.ids)))


def tfidf_values(counts: Ints, idf: Floats) -> Floats:
    """The weights of a document's terms, from how often it has each and how rare each is."""
    values = log_tf(counts) * idf
    length = float(np.linalg.norm(values))
    return values / length if length else values


def tfidf_rows(counts: Floats, idf: Floats) -> Floats:
    """`tfidf` of many texts at once: word counts (texts, words) and the words' idf (words,) -> (texts, words)."""
    values = log_tf(counts) * idf
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(lengths > 0, lengths, 1.0))


@dataclass(frozen=True)
class Postings:
    """How often documents have some terms: three columns."""

    document: Ints
    term: Ints  # its position among the terms asked for
    count: npt.NDArray[Any]


@dataclass(frozen=True)
class QueryTerms:
    """A query's terms, their weights and their rarity."""

    ids: Hashes  # sorted
    weights: Floats  # of length 1
    idf: Floats

    @staticmethod
    def of(counts: Counts, rarity: Idf, extra: Hashes | None = None, known: Floats | None = None) -> "QueryTerms":
        """Weigh terms; `extra` ones are looked up too, with weight 0. `known` is the idf of the terms, if it is."""
        own = rarity.idf(counts.ids) if known is None else known
        weights = tfidf_values(counts.counts, own)
        more = counts.ids[:0] if extra is None else np.unique(extra[~lookup(counts.ids, extra)[1]])
        if not len(more):
            return QueryTerms(counts.ids, weights, own)
        place = np.searchsorted(counts.ids, more)
        ids, idf = np.insert(counts.ids, place, more), np.insert(own, place, rarity.idf(more))
        return QueryTerms(ids, np.insert(weights, place, 0.0), idf)

    def cosines(self, postings: Postings, norms: Floats) -> Floats:
        """The cosine with each document; `norms` are the lengths of the documents' TF-IDF vectors: (documents,)."""
        mass = log_tf(postings.count) * (self.idf * self.weights)[postings.term]
        return np.bincount(postings.document, mass, len(norms)) / np.where(norms > 0, norms, 1.0)


@dataclass(frozen=True)
class TermMatrix:
    """The terms of a collection, term by term: a query touches only its own terms."""

    documents: int
    vocabulary: Hashes  # sorted
    starts: Ints  # of each term's entries, and the end
    document: Ints  # of each entry
    values: npt.NDArray[Any]  # weights, or counts

    @staticmethod
    def of(documents: Sequence[Weighted]) -> "TermMatrix":
        """Stack the documents' weights or counts."""
        ids = np.concatenate([_NO_TERMS, *(d.ids for d in documents)])
        values = np.concatenate([*(d.values for d in documents), np.empty(0, int)])
        document = np.repeat(np.arange(len(documents)), [len(d.ids) for d in documents])
        order = np.argsort(ids, kind="stable")
        vocabulary, counts = np.unique(ids[order], return_counts=True)
        return TermMatrix(len(documents), vocabulary, offsets_of(counts), document[order], values[order])

    def scores(self, query: Weighted) -> Floats:
        """The dot product of a query with every document."""
        found = self.find(query.ids)
        return np.bincount(found.document, found.count * query.values[found.term], self.documents).astype(np.float64)

    def find(self, terms: Hashes) -> Postings:
        """The entries of some terms."""
        position, present = lookup(self.vocabulary, terms)
        first, last = self.starts[:-1][position[present]], self.starts[1:][position[present]]
        entries = ranges(first, last)
        return Postings(self.document[entries], np.repeat(np.flatnonzero(present), last - first), self.values[entries])


def bm25(counts: Counts, frequencies: Frequencies, mean_length: float, k1: float = 1.5, b: float = 0.75) -> Weighted:
    """Robertson's BM25 weight of each term of a candidate, with Lucene's idf: ln(1 + (n - df + 0.5) / (df + 0.5))."""
    n, df = frequencies.documents, frequencies(counts.ids)
    idf = np.log(1 + (n - df + 0.5) / (df + 0.5))
    length = counts.counts.sum() / max(mean_length, 1e-9)
    return Weighted(counts.ids, idf * counts.counts / (counts.counts + k1 * (1 - b + b * length)))


def bm25_query(counts: Counts) -> Weighted:
    """The weights of a query for BM25: each of its terms as often as it occurs."""
    return Weighted(counts.ids, counts.counts.astype(np.float64))


@dataclass(frozen=True)
class TermBackground:
    """In how many documents terms occur, each counted in the kind of text that has it most.

    What every paper has is common, and so is what every judgment has, however rare both are elsewhere: two documents
    share it because they are of one kind.
    """

    words: Frequencies
    phrases: Frequencies
    everyday: Hashes  # words of much of general text, sorted
    foreign: Hashes  # words of languages that the packaged backbone does not know, sorted

    @cached_property
    def digest(self) -> str:
        """Identifies the frequencies."""
        parts = (self.words.ids, self.words.counts, self.phrases.ids, self.phrases.counts)
        return blake2b(b"".join(part.tobytes() for part in parts), digest_size=8).hexdigest()

    def frequencies(self, kind: Kind) -> Frequencies:
        """Those of words, or of phrases."""
        return self.words if kind == "words" else self.phrases

    def known(self, words: Hashes) -> Flags:
        """Which words occur in it."""
        return self.words(words) > 0

    def common(self, words: Hashes) -> Flags:
        """Which words say nothing by themselves, as half of the documents of some kind have them: "done", "results"."""
        return self.words.share(words) >= COMMON

    def familiar(self, words: Hashes) -> Flags:
        """Which words occur in it, in a language that the packaged backbone knows."""
        return self.known(words) & ~np.isin(words, self.foreign)

    def write(self, path: Path) -> None:
        """Write what `read_term_background` reads."""
        table: dict[str, npt.NDArray[np.generic]] = {"documents": np.array([self.words.documents])}
        signed = {"everyday": self.everyday, "foreign": self.foreign}
        for name, frequencies in (("words", self.words), ("phrases", self.phrases)):
            signed[f"{name}.ids"] = frequencies.ids
            table[f"{name}.counts"] = frequencies.counts.astype(np.int16)
        table |= {name: np.ascontiguousarray(ids).view(np.int64) for name, ids in signed.items()}
        save_file(table, path)


def shipped_background() -> TermBackground:
    """The background of the default matcher."""
    return read_term_background(FILE)


@cache
def read_term_background(path: Path) -> TermBackground:
    """What `TermBackground.write` wrote."""
    table = load_file(path)
    documents = float(table["documents"][0])
    hashes = {name: values.view(np.uint64) for name, values in table.items() if values.dtype == np.int64}
    words, phrases = (
        Frequencies(documents, hashes[f"{name}.ids"], table[f"{name}.counts"].astype(np.float64)) for name in KINDS
    )
    return TermBackground(words, phrases, hashes["everyday"], hashes["foreign"])
