"""Classes of documents: two documents of one class match."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from longmatch.errors import ReadError
from longmatch.lab.datasets.records import SPLITS, Split
from longmatch.lab.datasets.splits import DEFAULT
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.labels import PairTable, document_numbers
from longmatch.lab.training.data.tables import ClassLabels
from longmatch.units.tokens import Ints

Rows = Iterable[tuple[int, int, str]]  # split, document, class


@dataclass(frozen=True)
class ClassTable:
    """The documents with a class, by document number."""

    names: tuple[str, ...]
    split: Ints
    document: Ints
    label: Ints  # an index into `names`

    @classmethod
    def from_rows(cls, rows: Rows) -> "ClassTable":
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


def document_classes(documents: Ints, tokens: TokenCollection, ids: Sequence[str]) -> Rows:
    """The classes given in the documents themselves, with splits derived from their ids."""
    for number in documents.tolist():
        label = tokens.labels[number]
        if label is not None:
            yield SPLITS.index(DEFAULT.of(ids[number])), number, label


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
