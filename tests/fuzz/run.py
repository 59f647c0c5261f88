"""Read damaged files until the time is over, and count how it went: `make fuzz MINUTES=30`.

    python -m tests.fuzz [--minutes 10] [--processes 2] [--first 0] [--suffixes .pdf .rtf]

Each process reads one file after another; a reader may refuse a file in one sentence, and nothing else may happen.
Files that cause a traceback, take over ten seconds of processor time or end the process are kept in out/fuzz, to be
made into tests (tests/fuzz/finds). The same numbers make the same files. Ctrl-C ends a run early; its count is printed.
"""

import argparse
import multiprocessing
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path

from tests.fuzz.damage import damaged
from tests.fuzz.originals import originals
from tests.fuzz.outcome import SECONDS, outcome_of

PATIENCE = 300.0  # seconds without processor time
KEPT = Path("out") / "fuzz"


def read_many(answers: Connection, suffixes: list[str], first: int, step: int) -> None:
    """Read one damaged file after another, announcing each before it is read."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the run, and is no outcome of a file
    files = originals()
    number = first
    while True:
        suffix, content = make(number, suffixes, files)
        answers.send((number, None))
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of processor time, whatever else the machine does
        answers.send((number, outcome_of(content, suffix)))
        number += step


def make(number: int, suffixes: list[str], files: dict[str, list[bytes]]) -> tuple[str, bytes]:
    """The damaged file of a number, and its suffix: all formats take turns, and their originals."""
    turn, place = divmod(number, len(suffixes))
    suffix = suffixes[place]
    return suffix, damaged(files[suffix][turn % len(files[suffix])], f"{suffix} {number}")


class Reader:
    """A process that reads, started again after it hangs or dies."""

    def __init__(self, suffixes: list[str], first: int, step: int) -> None:
        self.suffixes, self.step, self.number = suffixes, step, first
        self._start(first)

    def _start(self, first: int) -> None:
        self.answers, there = multiprocessing.Pipe(duplex=False)
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=read_many, args=(there, self.suffixes, first, self.step), daemon=True)
        self.process.start()
        there.close()
        self.since = time.monotonic()

    def outcome(self) -> str | None:
        """What became of the file it reads; None if that is not known yet."""
        try:
            if self.answers.poll():
                self.number, said = self.answers.recv()
                self.since = time.monotonic()
                return str(said) if said else None
            if time.monotonic() - self.since < PATIENCE:
                return None
            how = "hang"
            self.process.kill()
            self.process.join()
        except EOFError:
            self.process.join()
            how = "hang" if self.process.exitcode == -signal.SIGPROF else "death"
        self._start(self.number + self.step)
        return how


def main() -> None:
    """Read until the time is over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the number of the first file")
    parser.add_argument("--suffixes", nargs="+", default=list(originals()))
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    readers = [Reader(options.suffixes, options.first + n, options.processes) for n in range(options.processes)]
    counts: Counter[str] = Counter()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # a run that is stopped says how far it got
        while time.monotonic() < end:
            wait([reader.answers for reader in readers], timeout=0.5)
            for reader in readers:
                if how := reader.outcome():
                    kind = how.split(":")[0]
                    counts[kind] += 1
                    if kind not in {"read", "refused"}:
                        keep(reader.number, options.suffixes, how)
    for reader in readers:
        reader.process.kill()
    found = ", ".join(f"{counts[kind]:,} {kind}" for kind in ("read", "refused", "traceback", "hang", "death"))
    print(f"{counts.total():,} damaged files of {len(options.suffixes)} formats: {found}.")
    sys.exit(bool(counts.total() - counts["read"] - counts["refused"]))


def keep(number: int, suffixes: list[str], how: str) -> None:
    """Write the file down, and say what it did."""
    suffix, content = make(number, suffixes, originals())
    KEPT.mkdir(parents=True, exist_ok=True)
    path = KEPT / f"{number}{suffix}"
    path.write_bytes(content)
    print(f"{path}: {how}", flush=True)
