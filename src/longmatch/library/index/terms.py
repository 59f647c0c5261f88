"""Terms of several documents at once, counted and weighed without a loop over documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longmatch.lexical.terms import Counts, Hashes, Ints
from longmatch.lexical.weights import log_tf
from longmatch.ragged import Floats


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

    @cached_property
    def distinct(self) -> tuple[Hashes, Ints]:
        """The distinct terms of all documents, ascending, and the position of each row's term among them."""
        terms, position = np.unique(self.term, return_inverse=True)
        return terms, position

    @property
    def frequency(self) -> Floats:
        """1 + ln tf."""
        return log_tf(self.count)

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
