"""Files that change: when to index them again, and which were deleted or renamed.

Folders are looked through every few seconds, which works on network drives too and takes a twentieth of the time at
most. Changes count once nothing has changed for a look, so that a file that is being written is not read in between.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from longmatch.documents.checks import is_gone, real_path
from longmatch.documents.read import list_folder

INTERVAL = 2.0  # seconds between two looks
LONGEST_WAIT = 30.0  # seconds after which changes count though files still change
SHARE = 20  # one second in 20 is spent on looking


class FileState(NamedTuple):
    """What shows that a file has changed, and the disk that its folder is on."""

    size: int
    modified: int
    disk: int


States = Mapping[Path, FileState]


def states(roots: Sequence[Path]) -> States | None:
    """The state of every file that longmatch reads in some files and folders; None while one of them is not there."""
    found: dict[Path, FileState] = {}
    disk_of = cache(lambda folder: folder.stat().st_dev)
    for root in roots:
        if not root.exists():
            return None
        for path in list_folder(root).readable if root.is_dir() else [root]:
            try:
                status = path.stat()
                found[path] = FileState(status.st_size, status.st_mtime_ns, disk_of(path.parent))
            except OSError:  # removed meanwhile, or not to be reached
                continue
    return found


class Watcher:
    """Waits for files to change. `on_missing` is called with a folder that is gone, such as a drive that is unplugged:
    nothing counts until it is back.
    """

    interval, longest_wait = INTERVAL, LONGEST_WAIT

    def __init__(self, roots: Sequence[Path], on_missing: Callable[[Path], None] = lambda path: None) -> None:
        self.roots, self.on_missing = roots, on_missing
        self.indexed: States = states(roots) or {}  # that were counted last: make it before the files are first read
        self.deleted: set[Path] = set()  # files that were here, and were deleted or renamed, by their real paths

    def changes(self) -> Iterator[None]:
        """Yield whenever files have changed and are settled; what changes while the caller works counts next time."""
        while True:
            now = self._settled()
            for path in filter(is_gone, self.indexed.keys() - now.keys()):
                above = next(folder for folder in path.absolute().parents if folder.exists())
                if above.stat().st_dev == self.indexed[path].disk:  # else the disk that it was on is gone
                    self.deleted.add(real_path(path))
            self.deleted = set(filter(is_gone, self.deleted))
            self.indexed = now
            yield

    def may_remove(self, path: Path, otherwise: bool) -> bool:
        """Whether documents that a file no longer holds may be removed; `otherwise` for files that are not watched.

        They may if the file is still here, or was deleted or renamed. One that is missing for any other reason, as on
        a drive that is unplugged, may come back.
        """
        if not any(path.is_relative_to(real_path(root)) for root in self.roots):
            return otherwise
        return path in self.deleted or not is_gone(path)

    @property
    def missing(self) -> Path | None:
        """A file or folder to watch that is not there."""
        return next((root for root in self.roots if not root.exists()), None)

    def forget(self) -> None:
        """Count everything as changed: what was indexed last could not be stored."""
        self.indexed = {}

    def _settled(self) -> States:
        """Wait until all folders are there, and the files differ from those indexed and no longer change."""
        before, since = self.indexed, time.monotonic()
        said = False
        while True:
            started = time.monotonic()
            now = states(self.roots)
            time.sleep(max(self.interval, SHARE * (time.monotonic() - started)))
            if now is None:
                if not said:
                    self.on_missing(self.missing or self.roots[0])
                said = True
                continue
            said = False
            if now == self.indexed:
                since = time.monotonic()
            elif now == before or time.monotonic() - since > self.longest_wait:
                return now
            before = now
