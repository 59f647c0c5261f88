"""Checksums of a library's files: a byte that flips on disk is noticed and not answered with.

The files of the store and of the index are never changed once they are written. Checking one means reading it, so it is
checked when its size or time is not what it was when it was last found good, as after a copy; and, however that may be,
now and then by a process that writes.
"""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

BLOCK = 1 << 20
GOOD_FOR = 7 * 86_400  # seconds before a file is checked again, however little it seems to have changed
RECHECKED = 1 << 30  # bytes at most that one run of a writer checks again
_MARK = ', "checksum": '


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

    def __init__(self, folder: Path, name: str = "checked.json") -> None:
        self._folder, self._path = folder, folder / name
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
            if self._checksum(name) == checksums[name]:
                good[name] = [*state, checksums[name], now]
            elif self._state(name) is not None:
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

    def _checksum(self, name: str) -> int | None:
        try:
            return checksum(self._folder / name)
        except OSError:
            return None

    def _keep(self, good: dict[str, list[int]]) -> None:
        if good == self._good:
            return
        self._good = good
        with suppress(OSError):  # a library that cannot be written is checked again the next time
            replace_text(self._path, to_checked_json({"good": good}))


def replace_text(path: Path, text: str) -> None:
    """Write a file in one step: whoever reads it sees all of the old or all of the new."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink()
        raise
