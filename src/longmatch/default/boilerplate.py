"""Phrases that are so common that a sentence made of them alone distinguishes nothing."""

import numpy as np

from longmatch.lexical.frequencies import Blend
from longmatch.lexical.table import TermTable
from longmatch.lexical.terms import Hashes, Ints

COMMON = 0.012  # share of documents that have a phrase, from which it distinguishes nothing
SEARCHES_OF_A_QUESTION = 2  # in its own phrases, and in those of its hits


class Boilerplate:
    """Finds the common phrases of a collection: what several of its documents have word for word, or texts of its kind.

    One question is answered sooner by looking its phrases up; for more, a table of all common phrases is made.
    """

    def __init__(self, phrases: Blend) -> None:
        self._phrases, self._searches = phrases, 0
        self._table: TermTable | None = None

    def prepare(self) -> None:
        """Make the table."""
        if self._table is None:
            self._table = TermTable.of(self._phrases.common(COMMON))

    def find(self, phrases: Hashes) -> Ints:
        """Where common phrases stand among others, in no particular order."""
        self._searches += 1
        if self._searches > SEARCHES_OF_A_QUESTION:
            self.prepare()
        if self._table is None:
            return np.flatnonzero(self._phrases.share(phrases) >= COMMON)
        return self._table.find(phrases)[0]
