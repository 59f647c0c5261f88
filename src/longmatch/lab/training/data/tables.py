"""Label files; the kind is recognised by the column names in the first line.

    source, target [, split] [, label]     pairs: 1 is a match, 0 a non-match; without a label all are matches
    query, document, grade [, split]       judgements: a grade above 0 is a match
    document, label [, split]              classes

Without a column `split` it is derived from the documents' ids (longmatch.lab.datasets.splits): a pair is test if either
document is, else validation if either is.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from longmatch.errors import ReadError
from longmatch.lab.datasets.records import SPLITS, Pair, Split, iterate_lines, read_table
from longmatch.lab.datasets.splits import DEFAULT

_SPLITS: dict[str, Split] = {split: split for split in SPLITS}


@dataclass(frozen=True)
class PairLabels:
    """A label file of pairs or judgements."""

    path: Path
    rows: tuple[Pair, ...]
    judged: bool  # judgements: a row belongs to its query's split, whatever the document
    has_negatives: bool  # has labels, so it lists its own non-matches
    split_by_id: bool  # splits are derived from ids


class ClassRow(NamedTuple):
    """A document's class."""

    split: Split
    document: str
    label: str


@dataclass(frozen=True)
class ClassLabels:
    """A label file of classes; two documents of one class match."""

    path: Path
    rows: tuple[ClassRow, ...]


def read_labels(path: Path) -> PairLabels | ClassLabels:
    """Read a label file of any kind."""
    columns = next((tuple(line.split("\t")) for _, line in iterate_lines(path)), ())
    needed = set(columns) - {"split"}
    rows = [dict(zip(columns, cells, strict=True)) for cells in read_table(path, columns)] if columns else []
    if len(set(columns)) == len(columns):
        if needed == {"document", "label"}:
            return ClassLabels(path, tuple(_class(path, row) for row in rows))
        if needed == {"query", "document", "grade"}:
            pairs = tuple(_pair(path, row, "query", "document", "grade") for row in rows)
            return PairLabels(path, pairs, judged=True, has_negatives=False, split_by_id="split" not in columns)
        if needed - {"label"} == {"source", "target"}:
            pairs = tuple(_pair(path, row, "source", "target", "label") for row in rows)
            return PairLabels(
                path, pairs, judged=False, has_negatives="label" in columns, split_by_id="split" not in columns
            )
    raise ReadError(
        path,
        f"starts with the columns {', '.join(columns) or 'none'}, which longmatch cannot learn from",
        "Name them source and target (and label), or query, document and grade, or document and label; split may be "
        "added.",
    )


def _pair(path: Path, row: dict[str, str], first: str, second: str, number: str) -> Pair:
    source, target = row[first], row[second]
    split = _split(path, row["split"]) if "split" in row else DEFAULT.of_pair(source, target)
    value = row.get(number, "1")
    if number == "grade" and value.isascii() and value.isdigit():
        return Pair(split, source, target, int(int(value) > 0))
    if value not in ("0", "1"):
        wanted = "0 or 1" if number == "label" else "a whole number from 0 up"
        raise ReadError(path, f"has a {number} {value!r}", f"That should be {wanted}.")
    return Pair(split, source, target, int(value))


def _class(path: Path, row: dict[str, str]) -> ClassRow:
    document = row["document"]
    return ClassRow(
        _split(path, row["split"]) if "split" in row else DEFAULT.of(document),
        document,
        row["label"],
    )


def _split(path: Path, name: str) -> Split:
    if name not in _SPLITS:
        raise ReadError(path, f"has a split {name!r}", f"It is one of {', '.join(SPLITS)}.")
    return _SPLITS[name]
