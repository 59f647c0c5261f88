"""The files that people add to the library, in a folder inside it: they stay with it, and later runs find them."""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from longmatch.documents.formats import suffix_of
from longmatch.library.files import HASH_DIGITS
from longmatch.library.library import Library
from longmatch.library.store import FOLDER_LIBRARY
from longmatch.web.limits import Limits
from longmatch.web.problems import Problem

FOLDER = "uploads"  # inside the library
BESIDE = "longmatch-uploads"  # in a folder of documents, whose library may be deleted at any time
REMOVED = ".removed-"  # before the name of a file whose document is being removed
PARTIAL = ".partial-"  # before that of one that is being written
NAME_BYTES = 200  # of a file's name, at most
_UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


class AddedFiles:
    """The folder of added files. A file lies there complete or not at all."""

    def __init__(self, library: Library, limits: Limits) -> None:
        self._library, self._limits = library, limits
        place = Path(library.address).resolve()
        self.folder = place.parent / BESIDE if place.name == FOLDER_LIBRARY else place / FOLDER

    def check_new(self, name: str, content: bytes) -> None:
        """Refuse a file that the library has, and one for which there is no room."""
        digest = blake2b(content, digest_size=HASH_DIGITS // 2).hexdigest()
        same = [path for path, known in self._library.indexed_files().items() if known == digest]
        if ids := [id for path in same for id in self._library.ids_of(path)]:
            raise Problem(409, f"{name} is in the library already: {ids[0]}.")
        if self._size() + len(content) > self._limits.added_bytes:
            most = f"{self._limits.added_bytes / 1e9:,.0f} GB"
            raise Problem(
                413, f"The files added to this library have {most} together, which is the limit. Remove some."
            )

    def save(self, name: str, content: bytes) -> Path:
        """Write a file under its name, or under `name (2)` and so on where that is taken; it is on disk afterwards."""
        with _disk(name):
            self.folder.mkdir(exist_ok=True)
            partial = self.folder / f"{PARTIAL}{secrets.token_hex(8)}"
            try:
                with partial.open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                path = self._reserve(safe_name(name))
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)
        return path

    def _reserve(self, name: str) -> Path:
        """An empty file under a free name: nobody else can take it."""
        stem, suffix = _split_suffix(name)
        count = 1
        while True:
            path = self.folder / (name if count == 1 else f"{stem} ({count}){suffix}")
            with suppress(FileExistsError):
                path.open("xb").close()
                return path
            count += 1

    def discard(self, path: Path) -> None:
        """Delete a file whose document was not added."""
        if not self._library.ids_of(path):
            path.unlink(missing_ok=True)

    def holds(self, path: str) -> bool:
        """Whether a document's file is one of these."""
        return bool(path) and Path(path).parent == self.folder

    @contextmanager
    def removing(self, path: Path) -> Iterator[None]:
        """Delete a file if the block, which removes its document, succeeds; if killed meanwhile, `recover` decides."""
        aside = path.with_name(f"{REMOVED}{path.name}")
        with suppress(FileNotFoundError):
            path.replace(aside)
        try:
            yield
        except BaseException:
            with suppress(FileNotFoundError):
                aside.replace(path)
            raise
        aside.unlink(missing_ok=True)

    def recover(self) -> list[Path]:
        """Clean up after a server that was killed; returns the files whose documents are not in the library yet."""
        if not self.folder.is_dir():
            return []
        for partial in self.folder.glob(f"{PARTIAL}*"):
            partial.unlink(missing_ok=True)
        for aside in self.folder.glob(f"{REMOVED}*"):
            path = aside.with_name(aside.name.removeprefix(REMOVED))
            if self._library.ids_of(path):
                aside.replace(path)
            else:
                aside.unlink(missing_ok=True)
        known = self._library.indexed_files()
        files = sorted(path for path in self.folder.iterdir() if path.is_file() and not path.name.startswith("."))
        for empty in [path for path in files if not path.stat().st_size]:
            empty.unlink(missing_ok=True)
        return [path for path in files if path not in known and path.exists()]

    def _size(self) -> int:
        return sum(path.stat().st_size for path in self.folder.iterdir()) if self.folder.is_dir() else 0


def safe_name(name: str) -> str:
    """A name that every file system takes: no hidden file, no folder, not too long.

    >>> safe_name("..a/b: c?.pdf"), len(safe_name("ä" * 300 + ".pdf").encode()) <= NAME_BYTES
    ('a_b_ c_.pdf', True)
    """
    stem, suffix = _split_suffix(_UNSAFE.sub("_", name).lstrip(". "))
    room = NAME_BYTES - len(suffix.encode("utf-8", "replace"))
    return stem.encode("utf-8", "replace")[:room].decode("utf-8", "ignore").strip() + suffix


def _split_suffix(name: str) -> tuple[str, str]:
    """The stem and the suffix of a file name, which may have two parts.

    >>> _split_suffix("a.b.JSONL.gz"), _split_suffix("a.b.png"), _split_suffix("a")
    (('a.b', '.JSONL.gz'), ('a.b', '.png'), ('a', ''))
    """
    at = len(name) - len(suffix_of(name) or Path(name).suffix)
    return name[:at], name[at:]


@contextmanager
def _disk(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Problem(507, f"{name} cannot be kept ({reason}). Make room on the server, then add it again.") from error
