"""Run commands that change a library on a disk that fills up at some point: `python -m tests.safety.full_disk`.

    python -m tests.safety.full_disk [--times 6] [--seed 0]

The library lies on a small file system in memory, which only root may mount. It has room for the library and for
a share of what the command adds, drawn at random. The command must say in one sentence that the disk is full, or
succeed; the library must give the answers of one made of the documents that it says it holds; and with more room, the
command run again must leave what one run leaves.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.safety.children import command, in_child, run_again
from tests.safety.kills import Disturber
from tests.safety.scenarios import Scenario

PLENTY = 1 << 28  # bytes


class Filler(Disturber):
    """Runs scenarios on disks that are too small."""

    def run(self, times: int, without: Sequence[str] = ()) -> None:
        """Fill a disk so many times in every scenario but some."""
        for scenario in (each for each in self.scenarios if each.name not in without):
            grown = self._growth(scenario)
            for number in range(times):
                self.fill(scenario, int(grown * (number + self.chance.random()) / times))

    def fill(self, scenario: Scenario, room: int) -> None:
        """Run a command with so many bytes of room, look, and run it again with more."""
        library = self._copy(scenario)
        with SmallDisk(library, size_of(library) + room) as disk:
            what = f"{scenario.name} with {room:,} bytes of room"
            done = in_child(command(*scenario.words(library)))
            said = done.errors.strip()
            if done.status == 0:
                self.found.late += 1
            elif done.status == 2 and "full" in said and "\n" not in said:
                self.found.times[scenario.name] += 1
                self.found.changed[scenario.name] += 1
            else:
                self._problem(f"{what}: {done.status}, {said[-600:]}", library)
            self._judge(scenario, library, what)
            disk.resize(PLENTY)
            last = in_child(lambda: run_again(command(*scenario.words(library)), library))
            self._compare(f"{what}, then with plenty", last, library, scenario.name)

    def _growth(self, scenario: Scenario) -> int:
        """How much the whole command adds at most."""
        library = self._copy(scenario)
        before = size_of(library)
        done = in_child(command(*scenario.words(library)))
        assert done.status == 0, done.errors
        return max(size_of(library) - before, before) + (1 << 17)


class SmallDisk:
    """A folder on a file system of a few bytes, with what was in it before."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder, self.size = folder, size

    def __enter__(self) -> "SmallDisk":
        self.folder.mkdir(exist_ok=True)
        aside = self.folder.with_name(f"{self.folder.name}-aside")
        self.folder.rename(aside)
        self.folder.mkdir()
        _mount("-t", "tmpfs", "-o", f"size={self.size}", "tmpfs", self.folder)
        shutil.copytree(aside, self.folder, dirs_exist_ok=True)
        shutil.rmtree(aside)
        return self

    def resize(self, size: int) -> None:
        """Make it larger."""
        _mount("-o", f"remount,size={size}", self.folder)

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "-l", self.folder], check=True)


def _mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def size_of(folder: Path) -> int:
    """As a file system in memory counts it: whole pages, and one for each folder."""
    paths = list(folder.rglob("*")) if folder.exists() else []
    return sum(-(-max(1, path.stat().st_size) // 4096) * 4096 for path in paths) + (1 << 14)


def main() -> None:
    """Fill disks, and say what became of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--times", type=int, default=6, help="for every command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without", nargs="*", default=[], help="commands that are left out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="longmatch-full-") as folder:
        filler = Filler(Path(folder), options.seed)
        filler.run(options.times, options.without)
        print("\n".join(filler.found.lines("full disks", "were large enough")))
    sys.exit(bool(filler.found.problems))


if __name__ == "__main__":
    main()
