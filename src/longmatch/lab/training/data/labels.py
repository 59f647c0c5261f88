"""Labels by document number, without leaks between splits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Self

import numpy as np
import numpy.typing as npt

from longmatch.errors import ReadError
from longmatch.lab.datasets.records import SPLITS, Split
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.sources import ClassLabels, PairLabels
from longmatch.units.tokens import Ints

Mask = npt.NDArray[np.bool_]
Rows = Iterable[tuple[int, int, str]]  # split, document, class


@dataclass(frozen=True)
class PairTable:
    """Pairs of documents, by number: label 1 is a match, 0 a non-match."""

    source: Ints
    target: Ints
    label: Ints

    def __len__(self) -> int:
        return len(self.source)

    def select(self, rows: Mask) -> Self:
        """The rows where the mask is true."""
        columns = {name: column[rows] for name, column in vars(self).items() if isinstance(column, np.ndarray)}
        return replace(self, **columns)

    def documents(self, rows: Ints) -> tuple[Ints, Ints]:
        """The distinct documents of some pairs (documents,), and each pair's places among them (2, pairs)."""
        numbers, places = np.unique(np.stack([self.source[rows], self.target[rows]]), return_inverse=True)
        return numbers, places.reshape(2, -1)

    @staticmethod
    def join(tables: Sequence["PairTable"]) -> "PairTable":
        """Concatenate tables."""
        none = np.zeros((3, 0), dtype=np.int64)
        return PairTable(*np.concatenate([none, *([t.source, t.target, t.label] for t in tables)], axis=1))


@dataclass(frozen=True)
class NumberedPairs(PairTable):
    """The rows of a label file of pairs; split 0, 1, 2 is train, validation, test."""

    split: Ints
    table: PairLabels  # without rows
    collection: int  # the number of documents in it

    @property
    def keys(self) -> Ints:
        """One number per pair, independent of its order."""
        return pair_keys(self.source, self.target, self.collection)

    def of(self, split: Split) -> PairTable:
        """The rows of one split."""
        rows = self.select(self.split == SPLITS.index(split))
        return PairTable(rows.source, rows.target, rows.label)


def pair_keys(source: Ints, target: Ints, documents: int) -> Ints:
    """One number per pair, independent of its order.

    >>> pair_keys(np.array([1, 4]), np.array([4, 1]), 10).tolist()
    [14, 14]
    """
    keys: Ints = np.minimum(source, target) * documents + np.maximum(source, target)
    return keys


def number_pairs(table: PairLabels, tokens: TokenCollection, prefix: str) -> NumberedPairs:
    """Look up the documents; rows with an unreadable document, or of one with itself, are left out."""
    named = (id for row in table.rows for id in (row.source, row.target))
    numbers = document_numbers(table.path, named, tokens, prefix)
    rows = [
        (SPLITS.index(row.split), numbers[row.source], numbers[row.target], row.label)
        for row in table.rows
        if row.source in numbers and row.target in numbers and row.source != row.target
    ]
    split, source, target, label = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return NumberedPairs(source, target, label, split, replace(table, rows=()), len(tokens))


def document_numbers(path: Path, ids: Iterable[str], tokens: TokenCollection, prefix: str) -> dict[str, int]:
    """The numbers of the documents in a label file, without unreadable ones; unknown ones are an error."""
    named = dict.fromkeys(ids)
    unknown = [id for id in named if prefix + id not in tokens and prefix + id not in tokens.unreadable]
    if unknown:
        raise ReadError(
            path,
            f"names {len(unknown)} unknown documents, the first of them {unknown[0]!r}",
            "Add them to the documents or drop the rows.",
        )
    return {id: tokens.number(prefix + id) for id in named if prefix + id in tokens}


def without_leaks(tables: Sequence[NumberedPairs]) -> list[NumberedPairs]:
    """Drop pairs that leak from validation or test into training, or from test into validation.

    These are pairs that a later split labels too, in any table and order, and pairs with a query of a later split.
    """
    kept = list(tables)
    for split in (1, 0):
        later = [table.select(table.split > split) for table in kept]
        keys = np.concatenate([np.zeros(0, dtype=np.int64), *(table.keys for table in later)])
        queries = np.concatenate([np.zeros(0, dtype=np.int64), *(t.source for t in later if t.table.judged)])
        for place, table in enumerate(kept):
            leaked = np.isin(table.keys, keys) | np.isin(table.source, queries) | np.isin(table.target, queries)
            kept[place] = table.select((table.split != split) | ~leaked)
    return kept


@dataclass(frozen=True)
class ClassTable:
    """The documents with a class, by document number."""

    names: tuple[str, ...]
    split: Ints
    document: Ints
    label: Ints  # an index into `names`

    @classmethod
    def number(cls, rows: Rows) -> "ClassTable":
        """Number the classes in the order of their names."""
        ordered = sorted(rows, key=lambda row: row[1])
        names = tuple(sorted({name for _, _, name in ordered}))
        codes = {name: code for code, name in enumerate(names)}
        table = np.array([(s, d, codes[name]) for s, d, name in ordered], dtype=np.int64).reshape(-1, 3)
        return cls(names, table[:, 0], table[:, 1], table[:, 2])

    def __len__(self) -> int:
        return len(self.document)

    def of(self, split: Split) -> tuple[Ints, Ints]:
        """The documents of a split and their classes."""
        rows = self.split == SPLITS.index(split)
        return self.document[rows], self.label[rows]


def labelled_classes(table: ClassLabels, tokens: TokenCollection, prefix: str) -> Rows:
    """The classes in a label file."""
    seen: set[str] = set()
    for row in table.rows:
        if row.document in seen:
            raise ReadError(table.path, f"gives {row.document!r} two classes", "Keep one of them.")
        seen.add(row.document)
    numbers = document_numbers(table.path, seen, tokens, prefix)
    return [(SPLITS.index(r.split), numbers[r.document], r.label) for r in table.rows if r.document in numbers]


def class_pairs(numbers: Ints, labels: Ints, ids: Sequence[str], seed: int) -> PairTable:
    """Pair each document with a random one of its class, if there is another, and with one of another class."""
    order = np.argsort(labels, kind="stable")  # grouped by class
    members = numbers[order].tolist()
    starts = np.searchsorted(labels[order], labels[order], side="left").tolist()
    ends = np.searchsorted(labels[order], labels[order], side="right").tolist()
    drawn = []
    for place, (number, start, end) in enumerate(zip(members, starts, ends, strict=True)):
        random = Random(f"{seed}:{ids[number]}")
        if end - start > 1:
            choice = random.randrange(start, end - 1)
            drawn.append((number, members[choice if choice < place else choice + 1], 1))
        if end - start < len(members):
            choice = random.randrange(len(members) - (end - start))
            drawn.append((number, members[choice if choice < start else choice + end - start], 0))
    return PairTable(*np.array(drawn, dtype=np.int64).reshape(-1, 3).T)
