"""Terms of several documents at once: counted, weighed, and looked up without a loop over documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.lexical.terms import Counts, Hashes, Ints, Stream, Terms, phrases_of

Floats = npt.NDArray[np.float64]

KINDS = ("words", "phrases")


@dataclass(frozen=True)
class Occurrences:
    """How often each document holds each of its terms: three columns, sorted by document, then term."""

    documents: int
    document: Ints
    term: Hashes
    count: Ints

    @staticmethod
    def of(counts: Sequence[Counts]) -> "Occurrences":
        """Of some documents' counts."""
        document = np.repeat(np.arange(len(counts)), [len(c.ids) for c in counts])
        terms = np.concatenate([c.ids for c in counts]) if counts else np.empty(0, np.uint64)
        numbers = np.concatenate([c.counts for c in counts]) if counts else np.empty(0, np.int64)
        return Occurrences(len(counts), document, terms, numbers)

    @property
    def frequency(self) -> Floats:
        """1 + ln tf."""
        return np.asarray(1 + np.log(self.count))

    def norms(self, idf: Floats) -> Floats:
        """The length of each document's vector of TF-IDF weights; `idf` is that of each row's term."""
        return np.sqrt(np.bincount(self.document, (self.frequency * idf) ** 2, self.documents))

    def heaviest(self, idf: Floats, most: int) -> npt.NDArray[np.bool_]:
        """Which rows are among the `most` of their document with the largest weight; ties go to the smaller hash."""
        order = np.lexsort((self.term, -(self.frequency * idf), self.document))
        starts = np.searchsorted(self.document, np.arange(self.documents))
        rank = np.arange(len(order)) - starts[self.document[order]]
        kept = np.zeros(len(order), dtype=bool)
        kept[order[rank < most]] = True
        return kept


def counted(terms: Sequence[Terms]) -> Iterator[tuple[str, Occurrences]]:
    """The occurrences of words, then of phrases."""
    yield "words", Occurrences.of([t.words.counts for t in terms])
    yield "phrases", Occurrences.of([t.phrases.counts for t in terms])


@dataclass(frozen=True)
class Asked:
    """A query's terms and weights, ready to be looked for in long streams of terms."""

    ids: Hashes  # in rising order
    weights: Floats  # of the query, its length 1
    idf: Floats

    def held(self, stream: Hashes, document: Ints) -> "Held":
        """Which of the terms each document has, from the running terms of all of them.

        Few of the terms are the query's, so a small table of hashes sorts most of them out first.
        """
        table = np.zeros(1 << 18, dtype=bool)
        mask = np.uint64(len(table) - 1)
        table[self.ids & mask] = True
        maybe = np.flatnonzero(table[stream & mask])
        if not len(self.ids) or not len(maybe):
            nothing = np.empty(0, dtype=np.int64)
            return Held(nothing, nothing, nothing)
        place = np.minimum(np.searchsorted(self.ids, stream[maybe]), len(self.ids) - 1)
        same = self.ids[place] == stream[maybe]
        keys = document[maybe[same]] * len(self.ids) + place[same]
        found, counts = np.unique(keys, return_counts=True)
        return Held(*np.divmod(found, len(self.ids)), counts)

    def scores(self, held: "Held", norms: Floats) -> Floats:
        """The cosine with each document, whose vectors have these lengths: (documents,)."""
        mass = (1 + np.log(held.count)) * (self.idf * self.weights)[held.term]
        return np.bincount(held.document, mass, len(norms)) / np.where(norms > 0, norms, 1.0)


@dataclass(frozen=True)
class Held:
    """How often documents have the terms asked for: three columns."""

    document: Ints
    term: Ints  # its place among the terms asked for
    count: Ints


def joined(streams: Sequence[Stream]) -> tuple[Stream, Ints]:
    """Many documents' streams as one, and the document each of its sentences belongs to."""
    ids = np.concatenate([s.ids for s in streams]) if streams else np.empty(0, np.uint64)
    lengths = [np.diff(s.offsets) for s in streams]
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]) if streams else np.zeros(1)
    homes = np.repeat(np.arange(len(streams)), [len(part) for part in lengths])
    return Stream(ids, offsets.astype(np.int64)), homes


def running(streams: Sequence[Stream]) -> dict[str, tuple[Hashes, Ints]]:
    """The running words and phrases of many documents, each with its document's number."""
    words, homes = joined(streams)
    phrases = phrases_of(words)
    return {"words": (words.ids, homes[words.sentence]), "phrases": (phrases.ids, homes[phrases.sentence])}
