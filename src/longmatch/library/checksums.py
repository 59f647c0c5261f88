"""Checksums of a library's files: a byte that flips on disk is noticed and not answered with.

The files of the store and of the index are never changed once they are written. Checking one means reading it, so it is
checked when its size or time is not what it was when it was last found good, as after a copy; and, however that may be,
now and then by a process that writes.
"""

import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from longmatch.cache import replace_file
from longmatch.library.errors import LibraryError

BLOCK = 1 << 20
GOOD_FOR = 7 * 86_400  # seconds before a file is checked again, however little it seems to have changed
RECHECKED = 1 << 30  # bytes at most that one run of a writer checks again
_MARK = ', "checksum": '
LIST = "checksums.json"
TABLES = ("documents", "files", "learnt")
PARTS = ("_versions/*.manifest", "_deletions/*", "_indices/*/*", "data/*")  # of a table, as patterns
DATA = "documents.lance/data/"
FILES = "files.lance/"
_DISK_FULL = re.compile(
    r"No space left|requested and \d+ written|StorageFull|File too large|os error 2[78]\b|quota exceeded", re.I
)
_FORBIDDEN = re.compile(r"Permission denied|Read-only file system|os error (?:13|30|1)\b|AccessDenied", re.IGNORECASE)
_UNREACHABLE = re.compile(
    r"NoSuchBucket|error sending request|connect|timed? ?out|dns|credential|InvalidAccessKeyId|Signature|40[134]\b",
    re.IGNORECASE,
)


def checksum(path: Path) -> int:
    """Of a file's content."""
    value = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            value = crc32(block, value)
    return value


def to_checked_json(facts: Mapping[str, Any]) -> str:
    """Facts as JSON that ends with its own checksum.

    >>> to_checked_json({"a": 1})
    '{"a": 1, "checksum": 4221669015}'
    """
    body = json.dumps(facts)
    return f"{body[:-1]}{_MARK}{crc32(body.encode())}}}"


def from_checked_json(text: str) -> dict[str, Any]:
    """The facts of `to_checked_json`; raises ValueError if a byte has changed."""
    head, _, tail = text.rpartition(_MARK)
    if tail != f"{crc32(f'{head}}}'.encode())}}}":
        raise ValueError("the checksum is wrong")
    return dict(json.loads(f"{head}}}"))


class CheckedFiles:
    """Remembers in a file which files of a folder were found good, with their size and time."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / "checked.json"
        try:
            self._good: dict[str, list[int]] = from_checked_json(self._path.read_text(encoding="utf-8"))["good"]
        except (OSError, ValueError, KeyError):
            self._good = {}

    def damaged(self, checksums: Mapping[str, int], recheck: bool = False) -> list[str]:
        """The files whose content is not that of their checksum; missing ones are left to those who need them.

        `recheck` those, too, that were checked long ago and do not seem to have changed.
        """
        now, good, left = int(time.time()), {}, RECHECKED if recheck else 0
        found = []
        for name in sorted(checksums, key=lambda name: self._good.get(name, [0])[-1]):
            state = self._state(name)
            if state is None:
                continue
            *known, checked = self._good.get(name, [0])
            is_due = left > 0 and now - checked > GOOD_FOR
            if known == [*state, checksums[name]] and not is_due:
                good[name] = self._good[name]
                continue
            left -= state[0] if known else 0
            try:
                if checksum(self._folder / name) == checksums[name]:
                    good[name] = [*state, checksums[name], now]
                else:
                    found.append(name)
            except OSError:
                if self._state(name) is not None:
                    found.append(name)
        self._keep(good)
        return found

    def trust(self, checksums: Mapping[str, int]) -> None:
        """Remember files that this process has written as good."""
        now, good = int(time.time()), {}
        for name, value in checksums.items():
            if (state := self._state(name)) is not None:
                before = self._good.get(name, [])
                good[name] = before if before[:-1] == [*state, value] else [*state, value, now]
        self._keep(good)

    def _state(self, name: str) -> list[int] | None:
        try:
            stat = (self._folder / name).stat()
        except OSError:
            return None
        return [stat.st_size, stat.st_mtime_ns]

    def _keep(self, good: dict[str, list[int]]) -> None:
        if good == self._good:
            return
        self._good = good
        with suppress(OSError):  # a library that cannot be written is checked again the next time
            replace_file(self._path, to_checked_json({"good": good}).encode())


class StoreChecks:
    """Records checksums after every commit, and compares them when a library is opened.

    Files of a commit whose process was killed before it recorded them are recorded with the next. Libraries in object
    storage have no checksums: the storage has its own.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._folder = None if "://" in address else Path(address)
        self.damaged: list[str] = []
        self._versions: Mapping[str, int] = {}  # of the tables, as recorded

    def check(self, recheck: bool = False) -> None:
        """Find damaged files; raises LibraryError unless what is damaged is not needed for every question."""
        if (folder := self._folder) is not None:
            # a table may say that its files are elsewhere, in storage that would be asked with the user's credentials
            for manifest in folder.glob("*.lance/_versions/*.manifest"):
                if b"://" in manifest.read_bytes():
                    raise LibraryError(
                        f"{self._address} has files at another address ({manifest.relative_to(folder)}), which is not "
                        "opened. Ask for a whole copy."
                    )
            listed, self._versions = _listed(folder)
            self.damaged = CheckedFiles(folder).damaged(listed, recheck) if listed else []
            self._raise([name for name in self.damaged if not name.startswith((DATA, FILES))])

    @property
    def remark(self) -> str:
        """A sentence where a folder's documents have no checksums to compare with; else empty."""
        if self._folder is None or _listed(self._folder)[0] or not any(self._folder.glob(f"{DATA}*")):
            return ""
        return (
            f"{self._address} has no valid {LIST}, so damaged or changed files would not be noticed. The next change "
            "of the library records what is there."
        )

    def check_version(self, table: str, version: int) -> None:
        """Raise LibraryError if the latest commit of a table, which was opened after `check`, is lost."""
        if version < self._versions.get(table, 0):
            self._raise([f"{table}.lance/_versions"])

    def need_documents(self) -> None:
        """Raise LibraryError if a file of documents is damaged."""
        self._raise([name for name in self.damaged if name.startswith(DATA)])

    def need_files(self) -> None:
        """Raise LibraryError if the records of the indexed files are damaged."""
        if damaged := [name for name in self.damaged if name.startswith(FILES)]:
            raise LibraryError(
                f"{self._address}/{damaged[0]} is damaged: its checksum is wrong. Remove {self._address}/{FILES[:-1]} "
                "and index again; unchanged documents are not encoded again."
            )

    def record(self, table: str, version: int) -> None:
        """Record the checksums of new files, and the version of a table."""
        if self._folder is None:
            return
        listed, versions = _listed(self._folder)
        paths = (path for table in TABLES for part in PARTS for path in self._folder.glob(f"{table}.lance/{part}"))
        names = [path.relative_to(self._folder).as_posix() for path in paths]
        found = {name: listed[name] if name in listed else checksum(self._folder / name) for name in names}
        content = to_checked_json({"files": found, "versions": {**versions, table: version}})
        replace_file(self._folder / LIST, content.encode())
        CheckedFiles(self._folder).trust(found)

    def forget(self) -> None:
        """Forget all checksums, as before a library is made."""
        if self._folder is not None:
            (self._folder / LIST).unlink(missing_ok=True)

    def _raise(self, damaged: list[str]) -> None:
        if damaged:
            raise LibraryError(
                f"{self._address}/{damaged[0]} is damaged: its checksum is wrong. "
                f"Restore it from a backup, or remove {self._address} and index again."
            )


def _listed(folder: Path) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The recorded checksums of a library's files, and the versions of its tables."""
    try:
        listed = from_checked_json((folder / LIST).read_text(encoding="utf-8"))
        return listed["files"], listed["versions"]
    except (OSError, ValueError, KeyError):  # older libraries have none
        return {}, {}


@contextmanager
def storage_errors(address: object) -> Iterator[None]:
    """Turn errors of the storage into a LibraryError of one sentence."""
    try:
        yield
    except MemoryError as error:
        raise LibraryError(f"There is not enough memory for {address}. End other programs, and run again.") from error
    except BaseException as error:
        is_panic = type(error).__name__ == "PanicException"  # of the storage's own language; it is no Exception
        if not is_panic and not isinstance(error, OSError | RuntimeError | ValueError):
            raise
        raise LibraryError(_sentence(str(address), f"{type(error).__name__}: {error}")) from error


def _sentence(address: str, reason: str) -> str:
    """What has gone wrong. Whether files are damaged, their checksums say, and no word of the engine."""
    if "://" not in address:
        folder = Path(address)
        listed, _ = _listed(folder)
        missing = [f"{name} is missing" for name in sorted(listed) if not (folder / name).exists()]
        damaged = missing or [
            f"{n} is damaged: its checksum is wrong" for n in CheckedFiles(folder).damaged(listed, True)
        ]
        if damaged:
            return f"{address}/{damaged[0]}. Restore it from a backup, or remove {address} and index again."
    is_full = False
    with suppress(OSError):
        is_full = shutil.disk_usage(address).free < 1 << 16
    if is_full or _DISK_FULL.search(reason):
        return f"The disk of {address} is full. Free some space and run again: what was stored stays."
    if _FORBIDDEN.search(reason):
        return f"{address} cannot be written. Check its permissions, or name another folder."
    if "://" in address and _UNREACHABLE.search(reason):
        return (
            f"{address} cannot be reached. Check the name and the environment variables of the storage: "
            "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, outside Amazon, AWS_ENDPOINT."
        )
    line = " ".join(reason.split())
    shortened = line[:120].rstrip(". ") + ("…" if len(line) > 120 else "")
    return (
        f"{address} could not be used ({shortened}); its files are not known to be damaged. Run again, and "
        "report this if it comes back."
    )
