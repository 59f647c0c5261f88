"""From the command line: processor time of a comparison and of a question to a small library, beside importing torch.

    python -m benchmarks.start [--turns 5]

Each is a process of its own, as a user starts it, with everything cached that a second run finds. The yardstick is what
any program built on torch and transformers spends before it does anything: `python -c "import torch, transformers"`.
Turns alternate, and the median is taken of each turn's ratio.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from benchmarks.common import COLLECTION

FIRST, SECOND = COLLECTION / "the-stream-that-turned.md", COLLECTION / "why-depositors-leave-together.md"
LIMITS = {"compare": 0.8, "rank": 0.6}


def seconds(command: list[str]) -> tuple[float, float]:
    """Processor time and wall-clock time of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    """Print one row for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
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
        turns = [{name: seconds(command) for name, command in commands.items()} for _ in range(options.turns)]
    table = Table("command", "processor time, s", "elapsed, s", "times importing torch", "at most")
    for name in commands:
        work, wall = (median(turn[name][i] for turn in turns) for i in (0, 1))
        ratio = median(turn[name][0] / turn["torch"][0] for turn in turns)
        table.add_row(name, f"{work:.2f}", f"{wall:.2f}", f"{ratio:.2f}", f"{LIMITS.get(name, '')}")
    Console().print(table)


if __name__ == "__main__":
    main()
