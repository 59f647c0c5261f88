"""How far indexing has come, by the work done and the work expected."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from longmatch.library.files import SourceFile

Phase = Literal["reading", "encoding", "writing"]

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

    @property
    def phase(self) -> Phase:
        """What takes the time now; files are read while others are encoded."""
        if self.files == self.total_files and self.share >= 1:
            return "writing"
        return "encoding" if self.tokens else "reading"


OnProgress = Callable[[IndexingProgress], None]


class Work:
    """The characters to encode: counted in files that were read, estimated from the size of the others."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()  # bytes to read, by suffix
        self._read: Counter[str] = Counter()  # bytes
        self._characters: Counter[str] = Counter()  # to encode, of files read
        self._unfinished = 0  # characters of the file that is being read
        self._found = self._encoded = self._written = 0
        self._under_way = 0.0

    def expect(self, files: Iterable[SourceFile]) -> None:
        """Files that will be read."""
        for file in files:
            self._waiting[file.path.suffix.lower()] += file.size

    def add(self, characters: int) -> None:
        """A document to encode, of the file that is being read."""
        self._found += characters
        self._unfinished += characters

    def finish(self, file: SourceFile) -> None:
        """A file has been read to its end."""
        suffix = file.path.suffix.lower()
        self._waiting[suffix] -= file.size
        self._read[suffix] += file.size
        self._characters[suffix] += self._unfinished
        self._unfinished = 0

    def encoding(self, characters: float) -> None:
        """Characters of the present batch that have been encoded so far."""
        self._under_way = characters

    def encoded(self, characters: int) -> None:
        """A whole batch has been encoded."""
        self._encoded += characters
        self._under_way = 0.0

    def written(self, characters: int) -> None:
        """A whole batch has been written."""
        self._written += characters

    @property
    def share(self) -> float:
        """The part that is encoded, 0 to 1."""
        return self._part(self._encoded + self._under_way)

    @property
    def read_share(self) -> float:
        """The part that is read."""
        return self._part(self._found)

    @property
    def written_share(self) -> float:
        """The part that is written."""
        return self._part(self._written)

    def _part(self, characters: float) -> float:
        waiting = 0.0
        for suffix, size in self._waiting.items():  # by the characters a byte of such files
            read = self._read[suffix]
            waiting += size * (self._characters[suffix] / read if read else CHARACTERS_PER_BYTE.get(suffix, 1.0))
        expected = self._found + max(0.0, waiting - self._unfinished)
        return min(1.0, characters / expected) if expected else 1.0
