"""What it takes to start: processor time of a command beside importing torch, and installing everything.

    python -m benchmarks.start [--turns 5]
    python -m benchmarks.start --install [--into FOLDER]

A comparison and a question to a small library: each is a process of its own, as a user starts it, with everything
cached that a second run finds. The yardstick is what any program built on torch and transformers spends before it does
anything: `python -c "import torch, transformers"`. Turns alternate, and the median is taken of each turn's ratio.

`--install`: from nothing to the demo's answer, beside `pip install sentence-transformers`, in seconds and bytes. Both
are done in fresh folders with fresh virtual environments, one after the other: a clone of this repository and `make
demo`; and an empty environment into which pip installs sentence-transformers, as its documentation says. Packages come
from wherever pip is set up to take them, without its cache.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from benchmarks.common import COLLECTION

REPOSITORY = Path(__file__).parents[1]
FIRST, SECOND = COLLECTION / "the-stream-that-turned.md", COLLECTION / "why-depositors-leave-together.md"
LIMITS = {"compare": 0.8, "rank": 0.6}


def seconds(command: list[str]) -> tuple[float, float]:
    """Processor time and wall-clock time of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def measure_commands(turns: int) -> Table:
    """One row for each command."""
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    longmatch = [sys.executable, "-m", "longmatch"]
    with TemporaryDirectory() as folder:
        library = str(Path(folder) / "library")
        seconds([*longmatch, "index", library, str(COLLECTION)])
        commands = {
            "torch": [sys.executable, "-c", "import torch, transformers"],
            "compare": [*longmatch, "compare", str(FIRST), str(SECOND)],
            "rank": [*longmatch, "rank", FIRST.name, library],
        }
        for command in commands.values():
            seconds(command)
        spent = [{name: seconds(command) for name, command in commands.items()} for _ in range(turns)]
    table = Table("command", "processor time, s", "elapsed, s", "times importing torch", "at most")
    for name in commands:
        work, wall = (median(turn[name][i] for turn in spent) for i in (0, 1))
        ratio = median(turn[name][0] / turn["torch"][0] for turn in spent)
        table.add_row(name, f"{work:.2f}", f"{wall:.2f}", f"{ratio:.2f}", f"{LIMITS.get(name, '')}")
    return table


def size(folder: Path) -> int:
    """Bytes on disk of all files, each counted once."""
    return sum(file.lstat().st_blocks * 512 for file in folder.rglob("*") if not file.is_symlink())


def timed(*commands: list[str], folder: Path) -> float:
    """Seconds that some commands take, one after another."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL", "PYTHON"))}
    environment |= {"PIP_NO_CACHE_DIR": "1", "XDG_CACHE_HOME": str(folder / "cache")}
    start = time.perf_counter()
    for command in commands:
        subprocess.run(command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure_installing(into: Path | None) -> Table:
    """One row for the demo, one for the other package."""
    python = shutil.which("python3") or sys.executable
    with TemporaryDirectory(dir=into) as name:
        ours, theirs = Path(name) / "ours", Path(name) / "theirs"
        theirs.mkdir()
        subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(ours)], check=True)
        install = ["venv/bin/python", "-m", "pip", "install", "-q", "sentence-transformers"]
        rows = {
            "make demo": (timed(["make", "demo"], folder=ours), size(ours)),
            "pip install sentence-transformers": (
                timed([python, "-m", "venv", "venv"], install, folder=theirs),
                size(theirs),
            ),
        }
        table = Table("", "seconds", "GB", "share of the time", "share of the disk")
        longest, largest = rows["pip install sentence-transformers"]
        for label, (spent, disk) in rows.items():
            shares = f"{spent / longest:.2f}", f"{disk / largest:.2f}"
            table.add_row(label, f"{spent:.0f}", f"{disk / 1e9:.2f}", *shares)
        return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--into", type=Path, help="the folder in which both are made; a temporary one by default")
    options = parser.parse_args()
    Console().print(measure_installing(options.into) if options.install else measure_commands(options.turns))


if __name__ == "__main__":
    main()
