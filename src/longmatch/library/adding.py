"""Indexing: files become rows of the store, in steps that each commit."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from longmatch.documents.document import Document
from longmatch.library.files import File, Sources, survey
from longmatch.library.line import Line
from longmatch.library.reading import read_files
from longmatch.library.rows import content_hash

if TYPE_CHECKING:
    from longmatch.library.writer import Writer
    from longmatch.units import Tokens

STEP_DOCUMENTS, STEP_CHARACTERS = 64, 4_000_000  # a commit


@dataclass
class Added:
    """What indexing did."""

    added: list[str] = field(default_factory=list)  # ids
    replaced: list[str] = field(default_factory=list)
    unchanged: int = 0  # documents
    vanished: list[str] = field(default_factory=list)  # ids whose file is gone, and which are still in the library
    removed: list[str] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)  # file, and a sentence

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "added": self.added,
            "replaced": self.replaced,
            "unchanged": self.unchanged,
            "vanished": self.vanished,
            "removed": self.removed,
            "unreadable": [{"file": file, "problem": problem} for file, problem in self.unreadable],
        }


@dataclass(frozen=True)
class Standing:
    """How far indexing has come."""

    files: int
    of_files: int
    documents: int  # encoded
    tokens: int
    seconds: float

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds if self.seconds else 0.0


Report = Callable[[Standing], None]


@dataclass
class _Step:
    """Documents and files that wait for the next commit."""

    documents: list[Document] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    tokens: list["Tokens"] = field(default_factory=list)
    rows: Any = None
    files: list[dict[str, Any]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)  # ids that a changed JSON Lines file no longer has

    @property
    def is_full(self) -> bool:
        characters = sum(len(d.text) for d in self.documents)
        return len(self.documents) >= STEP_DOCUMENTS or characters >= STEP_CHARACTERS


class Adding:
    """One run of indexing."""

    def __init__(self, writer: "Writer", sources: Sources, report: Report | None) -> None:
        self.writer, self.sources, self.report = writer, sources, report
        rows = writer.store.read(["id", "hash", "source"])
        columns = (rows[name].to_pylist() for name in ("id", "hash", "source"))
        self.known: dict[str, tuple[str, str]] = {id: (hash, source) for id, hash, source in zip(*columns, strict=True)}
        self.of_source: dict[str, set[str]] = defaultdict(set)  # the ids each file had before
        for id, (_, source) in self.known.items():
            self.of_source[source].add(id)
        self.claimed: set[str] = set()
        self.done = Added()
        self.step = _Step()
        self.files = self.of_files = self.documents = self.tokens = 0
        self.began = time.monotonic()
        self.line = Line([self._tokenize, self._encode, self._store])
        self._telling = Lock()

    def run(self, paths: Iterable[Path], prune: bool) -> Added:
        """Bring the library up to date with the files below the paths."""
        found = survey(paths, self.writer.store.files(), self.sources)
        self.of_files = len(found.to_read)
        self._keep(found.unchanged)
        self.done.unreadable += [(error.path, str(error)) for error in found.problems]
        self.done.unreadable += [(str(self.sources.path(file)), problem) for file, problem in found.known_problems]
        with self.line:  # reading goes on while what was read is tokenised, encoded and stored
            for reading in read_files(found.to_read):
                before = set(self.of_source.get(reading.file.source, ()))
                for document in reading.documents:
                    before.discard(self._take(document, reading.file))
                    if self.step.is_full:
                        self._commit()
                lost = (
                    [] if reading.problems else self._miss(sorted(before), prune)
                )  # a file now unreadable: its text stays
                self.done.unreadable += [(str(reading.file.path), str(error)) for error in reading.problems]
                record = reading.file.record([str(error) for error in reading.problems])
                self.step.files.append(record | ({"hash": "", "modified": 0} if lost else {}))  # look at it again
                self.files += 1
                self._tell()
            self._commit()
            self._miss(sorted(id for source in found.gone for id in self.of_source.get(source, ())), prune)
            self._commit()
        if prune:
            self.writer.store.delete_files(found.gone)
        return self.done

    def _keep(self, sources: Sequence[str]) -> None:
        for source in sources:
            ids = self.of_source.get(source, set())
            self.claimed |= ids
            self.done.unchanged += len(ids)

    def _take(self, document: Document, file: File) -> str:
        """Put a document into the next commit, unless the library has it as it is; its id in the library."""
        id = self._id(document.id, file.source)
        self.claimed.add(id)
        named = replace(document, id=id, source=file.source)
        if self.known.get(id) == (content_hash(named), file.source):
            self.done.unchanged += 1
            return id
        (self.done.replaced if id in self.known else self.done.added).append(id)
        self.step.documents.append(named)
        self.step.sources.append(file.source)
        return id

    def _id(self, wanted: str, source: str) -> str:
        """The document's own id, or the first of `id (2)`, `id (3)` ... that no other document has."""
        id, count = wanted, 1
        while id in self.claimed or not self._is_free(id, source):
            count += 1
            id = f"{wanted} ({count})"
        return id

    def _is_free(self, id: str, source: str) -> bool:
        """Whether an id is new, or that of this file's document, or of one whose file is gone."""
        if id not in self.known or self.known[id][1] == source:
            return True
        return not self.sources.path(self.known[id][1]).exists()

    def _miss(self, ids: Sequence[str], prune: bool) -> list[str]:
        """Remove documents that are gone, or only say so; those that stay without a file."""
        ids = [id for id in ids if id not in self.claimed]
        (self.done.removed if prune else self.done.vanished).extend(ids)
        if prune:
            self.step.gone += ids
        return [] if prune else ids

    def _commit(self) -> None:
        """Hand what waits to those who encode and store it."""
        step, self.step = self.step, _Step()
        self.known |= {d.id: (content_hash(d), s) for d, s in zip(step.documents, step.sources, strict=True)}
        for id in step.gone:
            self.known.pop(id, None)
        self.line.hand(step)

    def _tokenize(self, step: _Step) -> _Step:
        step.tokens = self.writer.tokenize(step.documents)
        return step

    def _encode(self, step: _Step) -> _Step:
        if step.tokens:
            step.rows = self.writer.encode(step.tokens, self._encoded)
            self.tokens += sum(map(len, step.tokens))
        step.documents, step.tokens = [], []
        return step

    def _store(self, step: _Step) -> None:
        """The files are noted last, so that a kill in between only reads them again."""
        if step.rows is not None:
            self.writer.put(step.rows)
        if step.gone:
            self.writer.remove(step.gone)
        self.writer.store.put_files(step.files)
        self._tell()

    def _encoded(self, documents: int) -> None:
        self.line.check()
        self.documents += documents
        self._tell()

    def _tell(self) -> None:
        if self.report:
            seconds = time.monotonic() - self.began
            with self._telling:
                self.report(Standing(self.files, self.of_files, self.documents, self.tokens, seconds))
