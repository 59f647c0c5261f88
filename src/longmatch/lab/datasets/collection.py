"""The common format on disk: a folder with documents and labels, for training and evaluation.

    documents.jsonl.xz   one document per line: id, title, sections [{heading, text}] (also .jsonl, .jsonl.gz)
    qrels.tsv            split, query, document, grade
    pairs.tsv            split, source, target, label
    pairs-KIND.tsv       the same with other non-matches: a set of its own, NAME-KIND (see `near_pairs`)
    candidates.tsv       document: only these are ranked for any query
    pools.tsv            query, document: only these are ranked for the query

Every label file is optional; each starts with a header line.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from longmatch.documents.document import Document
from longmatch.errors import ReadError
from longmatch.lab.datasets.records import SPLITS, Judgement, Pair, RawDocument, Split, iterate_records, read_table

DOCUMENT_FILES = ("documents.jsonl.xz", "documents.jsonl.gz", "documents.jsonl")
PAIR_COLUMNS = ("split", "source", "target", "label")
QREL_COLUMNS = ("split", "query", "document", "grade")
CANDIDATE_COLUMNS = ("document",)
POOL_COLUMNS = ("query", "document")
LABEL_FILES = ("qrels.tsv", "pairs.tsv", "candidates.tsv", "pools.tsv")


class DataFolder:
    """A data set on disk. Documents are streamed; labels and ids are read once, on first use.

    Opened by the path of a label file, `acl/pairs-near.tsv`, the set has those pairs alone and is called acl-near.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.place = Path(path)  # as given: what names the set to training and evaluation
        of_pairs = self.place.suffix == ".tsv"
        self.path = self.place.parent if of_pairs else self.place
        self.label_files = (self.place.name,) if of_pairs else LABEL_FILES
        files = [self.path / name for name in DOCUMENT_FILES if (self.path / name).is_file()]
        if not self.path.exists():
            raise ReadError(self.path, "does not exist", "Check the name.")
        if not files:
            raise ReadError(
                self.path,
                "is not a data folder (it holds no documents.jsonl.xz, .jsonl.gz or .jsonl)",
                "Build one with `longmatch data build`.",
            )
        self.documents_file = files[0]

    @property
    def name(self) -> str:
        """The set's name in tables: the folder's name, or acl-near for acl/pairs-near.tsv."""
        return set_name(self.place)

    def documents(self) -> Iterator[Document]:
        """The documents with sections, paragraphs and sentences, one at a time."""
        from longmatch.documents.jsonl import iterate_jsonl

        return iter(iterate_jsonl(self.documents_file))

    def records(self) -> Iterator[RawDocument]:
        """The documents as stored, one at a time: faster if sentences are not needed."""
        return iterate_records(self.documents_file)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The unique ids of all documents, in file order."""
        ids = tuple(record.id for record in self.records())
        if len(set(ids)) < len(ids):
            seen: set[str] = set()
            repeated = next(id for id in ids if id in seen or seen.add(id))  # type: ignore[func-returns-value]
            raise ReadError(self.documents_file, f"has more than one document {repeated!r}", "Give each a unique id.")
        return ids

    @property
    def splits(self) -> tuple[Split, ...]:
        """The splits that have labels, in the order train, validation, test."""
        labelled = {row.split for row in self._pairs} | {row.split for row in self._judgements}
        return tuple(split for split in SPLITS if split in labelled)

    def pairs(self, split: Split | None = None) -> list[Pair]:
        """The labelled pairs of a split, or of all splits; empty if the set has none."""
        return [pair for pair in self._pairs if split in (None, pair.split)]

    def judgements(self, split: Split | None = None) -> list[Judgement]:
        """The relevance judgements of a split, or of all splits; empty if the set has none."""
        return [row for row in self._judgements if split in (None, row.split)]

    def qrels(self, split: Split | None = None) -> dict[str, dict[str, int]]:
        """The grades by query, then document."""
        grades: dict[str, dict[str, int]] = {}
        for row in self.judgements(split):
            grades.setdefault(row.query, {})[row.document] = row.grade
        return grades

    def pool(self, query: str) -> tuple[str, ...]:
        """The documents to rank for a query: its pool, else the candidates, else all; never the query itself."""
        ids: Iterable[str] = self._pools.get(query, ()) or self._candidates or self.ids
        return tuple(id for id in ids if id != query)

    def validate(self) -> None:
        """Raise ReadError if a label, candidate or pool names a missing document."""
        known = set(self.ids)
        named = {
            self._pairs_file: (id for pair in self._pairs for id in (pair.source, pair.target)),
            "qrels.tsv": (id for row in self._judgements for id in (row.query, row.document)),
            "candidates.tsv": iter(self._candidates),
            "pools.tsv": (id for query, pool in self._pools.items() for id in (query, *pool)),
        }
        for file, ids in named.items():
            unknown = list(dict.fromkeys(id for id in ids if id not in known))
            if unknown:
                problem = f"names {len(unknown)} unknown documents, the first of them {unknown[0]!r}"
                raise ReadError(self.path / file, problem, f"Add them to {self.documents_file.name} or drop the rows.")

    @cached_property
    def _pairs(self) -> tuple[Pair, ...]:
        return tuple(Pair(*row) for row in self._typed(self._pairs_file, PAIR_COLUMNS, (0, 1)))

    @property
    def _pairs_file(self) -> str:
        return next(name for name in self.label_files if name.startswith("pairs"))

    @cached_property
    def _judgements(self) -> tuple[Judgement, ...]:
        return tuple(Judgement(*row) for row in self._typed("qrels.tsv", QREL_COLUMNS, None))

    @cached_property
    def _candidates(self) -> tuple[str, ...]:
        return tuple(row[0] for row in self._rows("candidates.tsv", CANDIDATE_COLUMNS))

    @cached_property
    def _pools(self) -> dict[str, list[str]]:
        pools: dict[str, list[str]] = defaultdict(list)
        for query, document in self._rows("pools.tsv", POOL_COLUMNS):
            pools[query].append(document)
        return dict(pools)

    def _rows(self, name: str, columns: tuple[str, ...]) -> list[list[str]]:
        path = self.path / name
        return read_table(path, columns) if name in self.label_files and path.is_file() else []

    def _typed(
        self, name: str, columns: tuple[str, ...], allowed: tuple[int, ...] | None
    ) -> Iterator[tuple[Split, str, str, int]]:
        """The rows with validated split and number; `allowed` lists the valid numbers, None allows any from 0 up."""
        split_of: dict[str, Split] = {split: split for split in SPLITS}
        for split, first, second, number in self._rows(name, columns):
            if split not in split_of:
                raise ReadError(self.path / name, f"has a split {split!r}", f"It is one of {', '.join(SPLITS)}.")
            value = int(number) if number.isascii() and number.isdigit() else -1
            if value < 0 or (allowed and value not in allowed):
                expected = "0 or 1" if allowed else "a whole number from 0 up"
                raise ReadError(self.path / name, f"has a row that ends in {number!r}", f"That should be {expected}.")
            yield split_of[split], first, second, value


def set_name(place: Path) -> str:
    """The name of a set, given its folder, the documents file in it, or a file with other pairs.

    >>> set_name(Path("data/acl")), set_name(Path("data/acl/pairs-near.tsv"))
    ('acl', 'acl-near')
    """
    resolved = place.resolve()
    if resolved.suffix == ".tsv":
        return resolved.parent.name + resolved.stem.removeprefix("pairs")
    return resolved.parent.name if resolved.name in DOCUMENT_FILES and resolved.parent.name else resolved.name


def find_set(data: Path, name: str) -> Path:
    """The folder of a set below `data`, or the label file behind a name such as acl-near: data/acl/pairs-near.tsv."""
    collection, _, kind = name.rpartition("-")
    labels = data / collection / f"pairs-{kind}.tsv"
    return labels if not (data / name).is_dir() and labels.is_file() else data / name
