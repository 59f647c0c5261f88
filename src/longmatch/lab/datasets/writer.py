"""Write a data set in the common format: documents are streamed, labels sorted, the folder created atomically."""

import lzma
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO, cast

from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import CANDIDATE_COLUMNS, PAIR_COLUMNS, POOL_COLUMNS, QREL_COLUMNS
from longmatch.lab.datasets.records import Judgement, Pair, RawDocument, Split, report

_PRESET = 1  # of xz: a sixth larger than the default 6, several times faster


@dataclass(frozen=True)
class Summary:
    """Counts of a data set that was built."""

    path: Path
    documents: int
    pairs: int
    judgements: int
    queries: int
    unreadable: int  # upstream files without a usable document
    dropped: int  # labels that name a document missing from the set


class CollectionWriter:
    """Streams a data set to a new folder.

    Everything is written to a temporary folder that `finish` moves into place, so that the folder is always complete.

        with CollectionWriter(out) as writer:
            writer.add(record)
            writer.pair("train", "a", "b", 1)
            summary = writer.finish()
    """

    def __init__(self, out: Path) -> None:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise LongmatchError(f"{out} already exists and is not empty. Name another folder, or remove it first.")
        self.out = out
        self.ids: set[str] = set()
        self.unreadable = 0
        self._partial = out.with_name(out.name + ".partial")
        self._pairs: list[Pair] = []
        self._judgements: set[Judgement] = set()
        self._pools: set[tuple[str, str]] = set()
        self._candidates: set[str] = set()

    def __enter__(self) -> Self:
        if self._partial.exists():
            shutil.rmtree(self._partial)  # left by an interrupted build
        self._partial.mkdir(parents=True)
        path = self._partial / "documents.jsonl.xz"
        self._documents = cast(TextIO, lzma.open(path, "wt", encoding="utf-8", newline="\n", preset=_PRESET))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._documents.close()
        if self._partial.exists():
            shutil.rmtree(self._partial)

    def add(self, record: RawDocument) -> bool:
        """Write a document unless its id is taken or it has no text; return whether it was written."""
        if record.id in self.ids:
            return False
        if not record.words:
            self.unreadable += 1
            return False
        self._documents.write(record.line() + "\n")
        self.ids.add(record.id)
        report("documents written", len(self.ids))
        return True

    def skip(self) -> None:
        """Count an upstream file without a usable document."""
        self.unreadable += 1

    def pair(self, split: Split, source: str, target: str, label: int) -> None:
        """Label a pair."""
        self._pairs.append(Pair(split, source, target, label))

    def judge(self, split: Split, query: str, document: str, grade: int = 1) -> None:
        """Grade a document for a query."""
        self._judgements.add(Judgement(split, query, document, grade))

    def pool(self, query: str, documents: Iterable[str]) -> None:
        """Restrict the documents ranked for a query."""
        self._pools.update((query, document) for document in documents)

    def candidates(self, documents: Iterable[str]) -> None:
        """Restrict the documents ranked for all queries."""
        self._candidates.update(documents)

    def table(self, name: str, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
        """Write another tab-separated file next to the labels; no file if there are no rows."""
        write_table(self._partial / name, columns, rows)

    def finish(self) -> Summary:
        """Write the labels and move the folder into place."""
        self._documents.close()
        if not self.ids:
            raise LongmatchError(
                f"No documents were found for {self.out}. See `longmatch data show` for the layout of RAW."
            )
        known = self.ids
        pairs = [p for p in self._pairs if p.source in known and p.target in known]
        judgements = [j for j in self._judgements if j.query in known and j.document in known]
        self.table("pairs.tsv", PAIR_COLUMNS, sorted(pairs))
        self.table("qrels.tsv", QREL_COLUMNS, sorted(judgements))
        self.table("candidates.tsv", CANDIDATE_COLUMNS, ((id,) for id in sorted(self._candidates & known)))
        self.table("pools.tsv", POOL_COLUMNS, sorted(p for p in self._pools if p[0] in known and p[1] in known))
        if self.out.exists():
            self.out.rmdir()
        self._partial.rename(self.out)
        queries = len({judgement.query for judgement in judgements})
        dropped = len(self._pairs) - len(pairs) + len(self._judgements) - len(judgements)
        return Summary(self.out, len(known), len(pairs), len(judgements), queries, self.unreadable, dropped)


def write_table(path: Path, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    """Write a tab-separated file with a header; no file if there are no rows."""
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        return
    part = path.with_name(f"{path.name}.part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        for row in chain([columns, first], rows):
            file.write("\t".join(str(cell) for cell in row) + "\n")
    part.replace(path)
