"""How far indexing has come, by the work done and the work expected."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from longmatch.library.files import SourceFile

CHARACTERS_PER_BYTE = {".pdf": 0.1, ".docx": 1.0, ".gz": 3.0, ".xz": 4.0}  # until files of the kind have been read


@dataclass(frozen=True)
class IndexingProgress:
    """How far indexing has come."""

    files: int  # read
    total_files: int
    documents: int  # encoded
    tokens: int
    seconds: float
    share: float  # of the work, by characters encoded; those of files not read yet are estimated
    read: float = 1.0  # the share of these characters that was read
    written: int = 0  # documents
    written_share: float = 0.0  # of the characters, those of documents written

    @property
    def rate(self) -> float:
        """Tokens per second."""
        return self.tokens / self.seconds if self.seconds else 0.0


OnProgress = Callable[[IndexingProgress], None]


class Work:
    """The work of an indexing run, done and expected; `report` calls `on_progress` with it, from any thread.

    It is measured by the characters to encode: counted in files that were read, estimated from the size of the others.
    """

    def __init__(self, on_progress: OnProgress | None = None) -> None:
        self.files = self.total_files = self.documents = self.tokens = 0
        self.under_way = 0.0  # characters of the present batch that have been encoded so far
        self._on_progress, self._lock, self._started = on_progress, Lock(), time.monotonic()
        self._waiting: Counter[str] = Counter()  # bytes to read, by suffix
        self._read: Counter[str] = Counter()  # bytes
        self._characters: Counter[str] = Counter()  # to encode, of files read
        self._unfinished = 0  # characters of the file that is being read
        self._found = self._encoded = self._written = self._written_documents = 0

    def expect(self, files: Sequence[SourceFile]) -> None:
        """Files that will be read."""
        self.total_files = len(files)
        for file in files:
            self._waiting[file.path.suffix.lower()] += file.size

    def add(self, characters: int) -> None:
        """A document to encode, of the file that is being read."""
        self._found += characters
        self._unfinished += characters

    def finish(self, file: SourceFile) -> None:
        """A file has been read to its end."""
        self.files += 1
        suffix = file.path.suffix.lower()
        self._waiting[suffix] -= file.size
        self._read[suffix] += file.size
        self._characters[suffix] += self._unfinished
        self._unfinished = 0

    def encoded(self, characters: int) -> None:
        """A whole batch has been encoded."""
        self._encoded += characters
        self.under_way = 0.0

    def written(self, documents: int, characters: int) -> None:
        """A whole batch has been written."""
        self._written_documents += documents
        self._written += characters

    def report(self) -> None:
        """Say how far the run has come."""
        if self._on_progress:
            with self._lock:
                self._on_progress(self.progress())

    def progress(self) -> IndexingProgress:
        """How far the run has come."""
        waiting = 0.0
        for suffix, size in self._waiting.items():  # by the characters a byte of such files
            read = self._read[suffix]
            waiting += size * (self._characters[suffix] / read if read else CHARACTERS_PER_BYTE.get(suffix, 1.0))
        expected = self._found + max(0.0, waiting - self._unfinished)
        done = (self._encoded + self.under_way, self._found, self._written)
        encoded, read_share, written = (min(1.0, part / expected) if expected else 1.0 for part in done)
        seconds = time.monotonic() - self._started
        return IndexingProgress(
            self.files,
            self.total_files,
            self.documents,
            self.tokens,
            seconds,
            encoded,
            read_share,
            self._written_documents,
            written,
        )
