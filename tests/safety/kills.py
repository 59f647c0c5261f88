"""Kill commands that change a library at random moments, and look at what they leave: `make kills KILLS=1000`.

    python -m tests.safety.kills [--kills 100] [--seed 0] [--minutes 60]

The real command runs in a separate process (a tiny random backbone, small documents, many commits) and gets SIGKILL
at a moment drawn uniformly from the time the command takes. Then a new process opens the library: it must give the
answers of a library that was made, without kills, of the documents that it says it holds. The command is run again, and
killed again; in the end it must end well, and leave what one run leaves.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from longmatch.library.writer import LOCK, UNFINISHED
from tests.safety.children import Child, Ended, command, differences, in_child, prepare, run_again, state
from tests.safety.scenarios import Scenario, make_scenarios, write_documents
from tests.tiny_models import save_bert

MOST_KILLS = 8  # of one command, before it may end


@dataclass
class Found:
    """What the kills found."""

    times: Counter[str] = field(default_factory=Counter)  # that a command was disturbed
    late: int = 0  # commands that were done before
    changed: Counter[str] = field(default_factory=Counter)  # that it had written something by then
    partway: Counter[str] = field(default_factory=Counter)  # that it left neither what was there nor all
    problems: list[str] = field(default_factory=list)

    def lines(self, what: str, otherwise: str) -> list[str]:
        """For the terminal."""
        by_command = [
            f"  {name}: {count:,} {what}, {self.changed[name]:,} after it had written something, "
            f"{self.partway[name]:,} between two commits"
            for name, count in sorted(self.times.items())
        ]
        total = f"{self.times.total():,} {what} ({self.late:,} more {otherwise}): {len(self.problems):,} problems"
        return [total, *by_command, *self.problems[:20]]


class Disturber:
    """Scenarios in a folder, and what their commands leave when nothing disturbs them."""

    def __init__(self, place: Path, seed: int) -> None:
        self.place, self.chance, self.found = place, random.Random(seed), Found()
        (place / "bert").mkdir()
        prepare(save_bert(place / "bert"))
        self.scenarios = make_scenarios(place)
        self._known: dict[str, Any] = {}  # what libraries without kills answer, by model and documents
        self._number = 0
        self.begins = {s.name: self._looked(s.before) if s.before else None for s in self.scenarios}
        self.whole, self.seconds = {}, {}
        for scenario in self.scenarios:
            self.whole[scenario.name], self.seconds[scenario.name] = self._undisturbed(scenario)

    def _judge(self, scenario: Scenario, library: Path, what: str) -> None:
        """Look at what a kill left."""
        looked = in_child(lambda: state(library))
        if looked.status:
            self._problem(f"{what}: {looked.errors[-600:]}", library)
            return
        left, name = looked.answer, scenario.name
        if left is None:
            if scenario.before:
                self._problem(f"{what}: the library is gone", library)
            return
        ends = [_key(at) for at in (self.begins[name], self.whole[name]) if at is not None]
        self.found.partway[name] += _key(left) not in ends
        if left["count"] != len(left["texts"]):
            self._problem(f"{what}: it counts {left['count']} documents and holds {len(left['texts'])}", library)
        if wrong := differences(left["answers"], self._fresh(left)):
            self._problem(f"{what}: {len(wrong)} answers, {wrong[0]}", library)

    def _compare(self, what: str, looked: Ended, library: Path, name: str) -> None:
        """A command that was run again leaves what one run leaves."""
        whole = self.whole[name]
        if looked.status or looked.answer is None:
            self._problem(f"{what}: {looked.errors[-600:]}", library)
        elif looked.answer["texts"] != whole["texts"] or looked.answer["model"] != whole["model"]:
            self._problem(f"{what}: other documents or another model", library)
        elif wrong := differences(looked.answer["answers"], whole["answers"]):
            self._problem(f"{what}: {len(wrong)} answers, {wrong[0]}", library)

    def _find_litter(self, what: str, library: Path) -> None:
        """A command that was run again leaves no file that a killed one had begun."""
        if left := [path for pattern in UNFINISHED for path in library.glob(pattern)]:
            self._problem(f"{what}: {left[0].relative_to(library)} is left for ever", library)

    def _undisturbed(self, scenario: Scenario) -> tuple[Any, float]:
        """What the whole command leaves, and how long it takes."""
        times = []
        for _ in range(2):
            library = self._copy(scenario)
            done = in_child(command(*scenario.words(library)))
            assert done.status == 0, f"{scenario.name}: {done.errors}"
            times.append(done.seconds)
        seen = self._looked(library)
        self._known[_key(seen)] = self._fresh(seen)
        return seen, min(times)

    def _looked(self, library: Path) -> Any:
        done = in_child(lambda: state(library))
        assert done.status == 0 and done.answer is not None, done.errors
        return done.answer

    def _fresh(self, left: Any) -> Any:
        """The answers of a library made of the same documents without kills."""
        key = _key(left)
        if not left["texts"]:
            return []
        if key not in self._known:
            self._number += 1
            folder = self.place / f"fresh-{self._number}"
            texts = write_documents(folder / "texts", left["texts"])
            done = in_child(command("index", folder / "library", texts))
            assert done.status == 0, done.errors
            self._known[key] = self._looked(folder / "library")["answers"]
            shutil.rmtree(folder)
        return self._known[key]

    def _copy(self, scenario: Scenario) -> Path:
        self._number += 1
        library = self.place / f"library-{self._number}"
        if scenario.before:
            shutil.copytree(scenario.before, library)
        return library

    def _problem(self, sentence: str, library: Path) -> None:
        self.found.problems.append(sentence)
        print(sentence, flush=True)
        kept = self.place / f"problem-{len(self.found.problems)}"
        if library.exists() and not kept.exists():
            shutil.copytree(library, kept)


class Killer(Disturber):
    """Kills commands at random moments."""

    def run(self, kills: int, minutes: float) -> Found:
        """Kill so many times, or until the time is over."""
        end, turn = time.monotonic() + 60 * minutes, 0
        with suppress(KeyboardInterrupt):  # Ctrl-C: what was found so far is said
            while self.found.times.total() < kills and time.monotonic() < end:
                turn += 1
                if turn % 50 == 0:
                    print(f"{self.found.times.total():,} kills, {len(self.found.problems)} problems", flush=True)
                self.kill(self.scenarios[turn % len(self.scenarios)])
        return self.found

    def kill(self, scenario: Scenario) -> None:
        """Kill a command and look, run it again and kill it again, until it is done; then look once more."""
        library, name, moments = self._copy(scenario), scenario.name, []
        work = command(*scenario.words(library))
        is_done = False
        while len(moments) < MOST_KILLS and not is_done:
            before = listing(library)
            moments.append(self.chance.uniform(0.0, 1.05 * self.seconds[name]))
            child = Child(work)
            child.kill(moments[-1])
            is_done = not child.end().is_killed
            what = f"{name} killed after {', '.join(f'{moment:.3f}' for moment in moments)} s"
            if is_done:
                self.found.late += 1
            else:
                self.found.times[name] += 1
                if listing(library) != before:
                    self.found.changed[name] += 1
                    self._judge(scenario, library, what)
        looked = in_child(partial(run_again, work, library))
        self._compare(f"{what} and run again", looked, library, name)
        self._find_litter(f"{what} and run again", library)
        shutil.rmtree(library, ignore_errors=True)


def listing(library: Path) -> dict[str, tuple[int, int]]:
    """The files of a library with their sizes and times: one in which nothing has changed needs no look."""
    if not library.exists():
        return {}
    files = (path for path in library.rglob("*") if path.is_file() and path.name != LOCK)
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in files}


def _key(seen: Any) -> str:
    return repr((seen["model"], sorted(seen["texts"].items())))


def main() -> None:
    """Kill until there are enough."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--keep", type=Path, help="a folder for the libraries of problems")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="longmatch-kills-") as folder:
        killer = Killer(Path(folder), options.seed)
        took = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in killer.seconds.items())
        print(f"Undisturbed: {took}", flush=True)
        began = time.monotonic()
        found = killer.run(options.kills, options.minutes)
        print("\n".join(found.lines("kills", "came too late")), f"in {time.monotonic() - began:.0f} s.")
        if options.keep and found.problems:
            for kept in Path(folder).glob("problem-*"):
                shutil.copytree(kept, options.keep / kept.name, dirs_exist_ok=True)
    sys.exit(bool(found.problems))


if __name__ == "__main__":
    main()
