"""Which documents of a library share runs of words, without comparing all pairs: from a sample of hashed runs.

The sample is of hashes, not of places: a run that is in the sample is in it wherever it stands. A large library is
sampled more thinly, so that the table stays in bounds.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from longmatch.default.sides import Floats
from longmatch.lexical.form import content_words
from longmatch.lexical.terms import Hashes, Ints, hash_word, lookup
from longmatch.library.rows import DocumentRow
from longmatch.library.store import Store
from longmatch.reuse.shingles import Flags, shingles
from longmatch.reuse.words import CJK, PER_WORD

LENGTH = 6  # words of a run, citation marks and the like left out; twice as many characters in Chinese and Japanese
MANY = 8  # documents: what stands in more of them is boilerplate
ENTRIES = 2_000_000  # of the table
COMMON = 0.5  # share of a passage's runs that many documents have, from which the passage is boilerplate
BY_CHARACTER = ("zh", "ja")
COLUMNS = ("id", "language", "vocabulary", "stream", "offsets")
_CHARACTER = re.compile(f"[{CJK}]")


def runs_of(row: DocumentRow) -> Hashes:
    """The distinct runs of words of a stored document."""
    length = LENGTH * (PER_WORD if row.value("language") in BY_CHARACTER else 1)
    return np.unique(shingles(row.terms().words.ids, length))


def runs_in(text: str) -> Hashes:
    """The distinct runs of words of a text."""
    by_character = 2 * len(_CHARACTER.findall(text)) > len(text)
    ids = np.array([hash_word(word) for word in content_words(text)], dtype=np.uint64)
    return np.unique(shingles(ids, LENGTH * (PER_WORD if by_character else 1)))


@dataclass(frozen=True)
class ShingleTable:
    """The sampled runs of all documents: those of document d are runs[offsets[d]:offsets[d + 1]], sorted."""

    ids: list[str]
    runs: Hashes
    offsets: Ints
    rate: int  # one run in `rate` is in the sample
    words: Ints  # of each document

    @staticmethod
    def of(store: Store, entries: int = ENTRIES) -> "ShingleTable":
        """Read the words of all documents, some at a time."""
        total = int(store.read(["words"])["words"].to_numpy().sum())
        rate = 1
        while total > rate * entries:
            rate *= 2
        return ShingleTable.of_rows((row for batch in store.batches(COLUMNS) for row in batch), rate)

    @staticmethod
    def of_rows(rows: Iterable[DocumentRow], rate: int = 1) -> "ShingleTable":
        """From rows of the store, sorted by id."""
        found = sorted(((row.id, sampled(runs_of(row), rate), len(row.array("stream"))) for row in rows), key=_first)
        parts = [runs for _, runs, _ in found]
        offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])
        joined = np.concatenate(parts) if parts else np.empty(0, np.uint64)
        words = np.array([words for *_, words in found], dtype=np.int64)
        return ShingleTable([id for id, *_ in found], joined, offsets.astype(np.int64), rate, words)

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each document."""
        return {id: number for number, id in enumerate(self.ids)}

    @cached_property
    def _by_run(self) -> tuple[Ints, Hashes, Ints, Ints]:
        """The entries sorted by run, and for each distinct run its hash, its first entry and its documents' count."""
        order = np.argsort(self.runs, kind="stable")
        distinct, first, counts = np.unique(self.runs[order], return_index=True, return_counts=True)
        return order, distinct, first, counts

    @cached_property
    def _common(self) -> Hashes:
        _, distinct, _, counts = self._by_run
        return distinct[counts > MANY]

    def is_common(self, text: str) -> bool:
        """Whether a passage stands in many documents."""
        runs = sampled(runs_in(text), self.rate)
        return len(runs) > 0 and float(self._are_common(runs).mean()) >= COMMON

    def _are_common(self, runs: Hashes) -> Flags:
        return lookup(self._common, runs)[1]

    def shared(self, a: str, b: str) -> int:
        """About how many runs two documents share, boilerplate too."""
        own, other = (self.runs[self.offsets[n] : self.offsets[n + 1]] for n in (self.number[a], self.number[b]))
        return len(np.intersect1d(own, other, assume_unique=True)) * self.rate

    def candidates(self, least: Callable[[Ints], Floats]) -> dict[tuple[str, str], int]:
        """The pairs of documents that share runs which few documents have, with about how many they share.

        `least` tells how many they have to share, from the words of the shorter document of each pair.
        """
        order, _, first, counts = self._by_run
        document = np.repeat(np.arange(len(self.ids)), np.diff(self.offsets))[order]
        keys, counted = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for size in range(2, MANY + 1):
            starts = first[counts == size]
            members = document[starts[:, None] + np.arange(size)]  # (runs, size), ascending: sorting was stable
            pairs = [members[:, i] * len(self.ids) + members[:, j] for i, j in combinations(range(size), 2)]
            distinct, count = np.unique(np.concatenate(pairs), return_counts=True)
            keys.append(distinct)
            counted.append(count)
        found, place = np.unique(np.concatenate(keys), return_inverse=True)
        shared = self.rate * np.bincount(place, np.concatenate(counted), len(found)).astype(np.int64)
        a, b = np.divmod(found, max(1, len(self.ids)))
        enough = shared >= least(np.minimum(self.words[a], self.words[b]))
        kept = zip(a[enough].tolist(), b[enough].tolist(), shared[enough].tolist(), strict=True)
        return {(self.ids[i], self.ids[j]): count for i, j, count in kept}

    def shorter(self, a: str, b: str) -> Ints:
        """The words of the shorter of two documents, as `least` of `candidates` takes it."""
        return np.minimum(self.words[[self.number[a]]], self.words[[self.number[b]]])


def sampled(runs: Hashes, rate: int) -> Hashes:
    """The runs in the sample; `rate` is a power of two."""
    return runs if rate == 1 else runs[(runs >> np.uint64(7)) % np.uint64(rate) == 0]


def _first(entry: tuple[str, Hashes, int]) -> str:
    return entry[0]
