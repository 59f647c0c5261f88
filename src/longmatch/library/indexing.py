"""Indexing: files become rows of the store, in steps that each commit."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from longmatch.documents.document import Document, content_hash
from longmatch.errors import ReadError
from longmatch.library.changes import Added, Claims
from longmatch.library.files import File, Sources, survey
from longmatch.library.pipeline import Line
from longmatch.library.reading import FileRead, read_files

if TYPE_CHECKING:
    import pyarrow as pa

    from longmatch.library.writer import Writer
    from longmatch.units import Tokens

STEP_DOCUMENTS, STEP_CHARACTERS = 64, 4_000_000  # a commit


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


class Way(Protocol):
    """How documents are read and encoded where that is not done in this process."""

    def add(
        self, writer: "Writer", sources: Sources, report: Report | None, prune: bool, paths: Iterable[Path]
    ) -> Added:
        """Bring a library up to date with the files below the paths."""


@dataclass
class _Step:
    """Documents and files that wait for the next commit. On the line documents become tokens, and tokens rows."""

    documents: list[Document] = field(default_factory=list)
    tokens: list["Tokens"] = field(default_factory=list)
    rows: "pa.Table | None" = None
    files: list[dict[str, Any]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)  # ids that a changed JSON Lines file no longer has

    @property
    def is_full(self) -> bool:
        characters = sum(len(d.text) for d in self.documents)
        return len(self.documents) >= STEP_DOCUMENTS or characters >= STEP_CHARACTERS


class Adding:
    """One run of indexing: reading here, and tokenising, encoding and storing on a line, each in a thread."""

    def __init__(self, writer: "Writer", sources: Sources, report: Report | None, prune: bool) -> None:
        self.writer, self.sources, self.report = writer, sources, report
        self.claims = Claims(writer.store, sources, prune)
        self.step = _Step()
        self.line = Line([self._tokenize, self._encode, self._store])
        self.files = self.of_files = self.documents = self.tokens = 0
        self.began = time.monotonic()
        self._telling = Lock()

    def run(self, paths: Iterable[Path]) -> Added:
        """Bring the library up to date with the files below the paths."""
        found = survey(paths, self.writer.store.files(), self.sources)
        self.of_files = len(found.to_read)
        self.claims.begin(found)
        with self.line:
            for reading in read_files(found.to_read):
                self._take(reading)
                self.files += 1
                self._tell()
            self._commit()
            self.step.gone, _ = self.claims.miss(self.claims.of_gone(found))
            self._commit()
        if self.claims.prune:
            self.writer.store.delete_files(found.gone)
        return self.claims.done

    def _take(self, reading: FileRead) -> None:
        """Put a file's documents into the next commits, unless the library has them as they are."""
        file = reading.file
        before = set(self.claims.of_source.get(file.source, ()))
        for document in reading.documents:
            id, wanted = self.claims.take(document.id, content_hash(document), file.source)
            before.discard(id)
            if wanted:
                self.step.documents.append(replace(document, id=id, source=file.source))
            if self.step.is_full:
                self._commit()
        record, gone = noted(self.claims, file, reading.problems, before)
        self.step.files.append(record)
        self.step.gone += gone

    def _commit(self) -> None:
        """Hand what waits to those who encode and store it."""
        step, self.step = self.step, _Step()
        self.line.hand(step)

    def _tokenize(self, step: _Step) -> _Step:
        step.tokens, step.documents = self.writer.tokenize(step.documents), []
        return step

    def _encode(self, step: _Step) -> _Step:
        if step.tokens:
            step.rows = self.writer.encode(step.tokens, self._encoded)
            self.tokens += sum(map(len, step.tokens))
        step.tokens = []
        return step

    def _encoded(self, documents: int) -> None:
        self.line.check()
        self.documents += documents
        self._tell()

    def _store(self, step: _Step) -> None:
        """The files are noted last, so that a kill in between only reads them again."""
        if step.rows is not None:
            self.writer.put(step.rows)
        if step.gone:
            self.writer.remove(step.gone)
        self.writer.store.put_files(step.files)
        self._tell()

    def _tell(self) -> None:
        if self.report:
            seconds = time.monotonic() - self.began
            with self._telling:
                self.report(Standing(self.files, self.of_files, self.documents, self.tokens, seconds))


def noted(
    claims: Claims, file: File, problems: Sequence[ReadError], before: Iterable[str]
) -> tuple[dict[str, Any], list[str]]:
    """What to note of a file that has been read, and which of the documents it had `before` have to go.

    Of a file that can no longer be read in full, all documents stay.
    """
    gone, lost = ([], []) if problems else claims.miss(sorted(before))
    claims.done.unreadable += [(str(file.path), str(error)) for error in problems]
    record = file.record([str(error) for error in problems])
    return record | ({"hash": "", "modified": 0} if lost else {}), gone  # look at it again
