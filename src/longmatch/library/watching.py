"""Files that change: when to index them again.

Folders are looked through every few seconds, which works on network drives too and takes a twentieth of the time at
most. Changes count once nothing has changed for a look, so that a file that is being written is not read in between.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from longmatch.documents.read import list_folder

INTERVAL = 2.0  # seconds between two looks
LONGEST_WAIT = 30.0  # seconds after which changes count though files still change
SHARE = 20  # one second in 20 is spent on looking

States = Mapping[Path, tuple[int, int]]  # size and time of each file


def states(roots: Sequence[Path]) -> States | None:
    """The state of every file that longmatch reads in some files and folders; None while one of them is not there."""
    found: dict[Path, tuple[int, int]] = {}
    for root in roots:
        if not root.exists():
            return None
        for path in list_folder(root).readable if root.is_dir() else [root]:
            try:
                status = path.stat()
            except OSError:  # removed meanwhile, or not to be reached
                continue
            found[path] = status.st_size, status.st_mtime_ns
    return found


class Watcher:
    """Waits for files to change. `on_missing` is called with a folder that is gone, such as a drive that is unplugged:
    nothing counts until it is back.
    """

    interval, longest_wait = INTERVAL, LONGEST_WAIT

    def __init__(self, roots: Sequence[Path], on_missing: Callable[[Path], None] = lambda path: None) -> None:
        self.roots, self.on_missing = roots, on_missing
        self.indexed: States = states(roots) or {}  # that were counted last: make it before the files are first read

    def changes(self) -> Iterator[None]:
        """Yield whenever files have changed and are settled; what changes while the caller works counts next time."""
        while True:
            self.indexed = self._settled()
            yield

    def forget(self) -> None:
        """Count everything as changed: what was indexed last could not be stored."""
        self.indexed = {}

    def _settled(self) -> States:
        """Wait until the files differ from those indexed and no longer change."""
        before, since = self.indexed, time.monotonic()
        while True:
            now = self._look()
            if now == self.indexed:
                since = time.monotonic()
            elif now == before or time.monotonic() - since > self.longest_wait:
                return now
            before = now

    def _look(self) -> States:
        """Look after a while, and again until all folders are there."""
        said = False
        while True:
            started = time.monotonic()
            found = states(self.roots)
            time.sleep(max(self.interval, SHARE * (time.monotonic() - started)))
            if found is not None:
                return found
            if not said:
                said = True
                self.on_missing(next((root for root in self.roots if not root.exists()), self.roots[0]))
