"""Which files are new, changed, unchanged or gone since the library last read them."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from longmatch.documents.read import JSONL_SUFFIXES, SUFFIXES, find_files
from longmatch.errors import ReadError

SETTLED = 2.0  # seconds: a file written just before it was read may have changed again within the clock's grain


@dataclass(frozen=True)
class File:
    """A file to read, the id its document gets, and what tells whether it has changed."""

    path: Path
    id: str
    source: str  # its path as the library keeps it
    hash: str
    size: int
    modified: int

    @property
    def is_json_lines(self) -> bool:
        """Whether it holds many documents."""
        return self.path.name.lower().endswith(JSONL_SUFFIXES)

    def record(self, problems: Sequence[str]) -> dict[str, Any]:
        """What the library notes of it; a time of 0 means: look at the content next time."""
        settled = time.time_ns() - self.modified > SETTLED * 1e9
        modified = self.modified if settled else 0
        facts: dict[str, Any] = {"path": self.source, "hash": self.hash, "size": self.size, "modified": modified}
        return facts | {"problems": list(problems)}


@dataclass
class Survey:
    """What the paths given hold, compared with what the library knows."""

    to_read: list[File] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)  # sources
    gone: list[str] = field(default_factory=list)  # sources
    problems: list[ReadError] = field(default_factory=list)  # paths that are not there
    known_problems: list[tuple[str, str]] = field(default_factory=list)  # source, sentence: of unchanged files


class Sources:
    """Paths as the library keeps them: relative to the folder it lies in where they are below it, else whole.

    So a folder with its library in it can be moved.
    """

    def __init__(self, root: Path | None) -> None:
        self.root = root

    def name(self, path: Path) -> str:
        """A path as it is kept."""
        whole = path.resolve()
        if self.root is not None and whole.is_relative_to(self.root):
            return whole.relative_to(self.root).as_posix()
        return whole.as_posix()

    def path(self, name: str) -> Path:
        """The path behind a name."""
        return Path(name) if self.root is None else self.root / name


def survey(paths: Iterable[Path], known: dict[str, dict[str, Any]], sources: Sources) -> Survey:
    """Look at every file below the paths; only those whose time or size has changed are opened."""
    found = Survey()
    seen: set[str] = set()
    given = list(paths)
    for path, id in _named_files(given, found.problems.append):
        source = sources.name(path)
        if source in seen:
            continue
        seen.add(source)
        try:
            file = _look(path, id, source, known.get(source))
        except OSError as error:
            found.problems.append(
                ReadError(path, f"cannot be opened ({error.strerror})", "Check that you may read it.")
            )
            continue
        if file is not None:
            found.to_read.append(file)
        else:
            found.unchanged.append(source)
            found.known_problems += [(source, problem) for problem in known[source]["problems"]]
    folders = [path.resolve() for path in given]
    for source in known.keys() - seen:
        place = sources.path(source)
        if any(place == folder or folder in place.parents for folder in folders) and not place.exists():
            found.gone.append(source)
    found.gone.sort()
    return found


def _named_files(given: Iterable[Path], on_error: Callable[[ReadError], None]) -> Iterator[tuple[Path, str]]:
    for path in given:
        if path.is_dir():
            files = find_files(path)
            yield from ((file, file.relative_to(path).as_posix()) for file in files)
            if not files:
                on_error(ReadError(path, "holds no file that longmatch reads", f"It reads {', '.join(SUFFIXES)}."))
        elif path.exists():
            yield path, path.name
        else:
            on_error(ReadError(path, "does not exist", "Check the name."))


def _look(path: Path, id: str, source: str, known: dict[str, Any] | None) -> File | None:
    """The file, if it is new or changed."""
    stat = path.stat()
    if known and known["size"] == stat.st_size and known["modified"] == stat.st_mtime_ns:
        return None
    digest = _hash(path)
    if known and known["hash"] == digest:
        return None
    return File(path, id, source, digest, stat.st_size, stat.st_mtime_ns)


def _hash(path: Path) -> str:
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
