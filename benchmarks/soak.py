"""An hour of indexing, changing, removing and ranking on one library: does it hold?

    python -m benchmarks.soak [DATA] [--minutes 60] [--documents 200] [--pause 0] [--out soak.json]

DATA is a folder of the catalogue; without it, halves of the example documents are put together in all ways. Documents
come and go as files, about `--documents` of them at a time. One handle writes, another, opened once, asks. After every
step the library must hold just the files there are, and no answer may name another document. At the end a fresh library
of the same files must give the same answers: the same documents in the same order, where their scores differ by more
than TOLERANCE (vectors depend on the batch in the last bits). `--out` gets all figures, written anew at every look.
Memory is what the process holds for itself, without mapped files; the first third warms up and is not judged (torch
keeps what it has prepared for every size of batch, up to a limit it reaches after some hundred documents).
"""

import argparse
import gc
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import COLLECTION, bytes_on_disk, memory_of
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.documents.read import read_all, read_text_string
from longmatch.lab.datasets.collection import DataFolder
from longmatch.library.library import Library
from longmatch.matching.hits import Hit

TOLERANCE = 2e-3  # of scores between 0 and 1
GROWTH = 0.03  # share of memory that may be added from the second third to the last


@dataclass
class Told:
    """What a soak measured."""

    steps: dict[str, int] = field(default_factory=dict)
    minutes: list[float] = field(default_factory=list)  # when memory was looked at
    memory: list[float] = field(default_factory=list)  # MB
    disk: list[float] = field(default_factory=list)  # MB
    opened: list[int] = field(default_factory=list)  # files and connections
    errors: list[str] = field(default_factory=list)  # in which step, and what
    questions: int = 0  # compared at the end
    differing: list[str] = field(default_factory=list)
    furthest: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("scores", "passages", "pairs"), 0.0))

    @property
    def growth(self) -> float:
        """Memory in the last third against the one before, as a share; 0 where it was looked at too seldom to say."""
        if len(self.memory) < 6:
            return 0.0
        kept = self.memory[len(self.memory) // 3 :]
        half = len(kept) // 2
        return float(np.median(kept[half:]) / np.median(kept[:half]) - 1)

    def lines(self) -> list[str]:
        """For the terminal."""
        steps = ", ".join(f"{count:,} {name}" for name, count in sorted(self.steps.items()))
        minutes, memory = np.array(self.minutes), np.array(self.memory)
        late = slice(len(memory) // 3, None)
        slope = np.polyfit(minutes[late], memory[late], 1)[0] * 60 if len(memory[late]) > 2 else 0.0
        return [
            f"{self.minutes[-1]:.1f} minutes, {len(self.errors)} errors: {steps}",
            f"memory: {memory[late].min():.0f} to {memory[late].max():.0f} MB after warm-up, "
            f"last third against the one before {100 * self.growth:+.1f} %, {slope:+.0f} MB an hour",
            f"disk {self.disk[0]:.0f} to {self.disk[-1]:.0f} MB (most {max(self.disk):.0f}), "
            f"open files {self.opened[0]} to {self.opened[-1]} (most {max(self.opened)})",
            f"{self.questions} questions asked of it and of a fresh library: {len(self.differing)} answers differ; "
            "at most, by " + ", ".join(f"{value:.1e} in {what}" for what, value in self.furthest.items()),
        ]

    def write(self, out: Path) -> None:
        """All figures as JSON."""
        judged = {"growth": self.growth, "lines": self.lines()}
        out.write_text(json.dumps(asdict(self) | judged, indent=1) + "\n", encoding="utf-8")


class Soak:
    """A folder of files, the library of it, and what may be done to them."""

    def __init__(
        self, place: Path, texts: Sequence[str], documents: int, matcher: HybridMatcher, out: Path | None = None
    ) -> None:
        self.out = out
        self.chance = random.Random(0)
        self.texts, self.documents, self.matcher = list(texts), documents, matcher
        self.place, self.files = place, place / "files"
        self.files.mkdir(parents=True)
        self.number = 0
        self._write(documents)
        self.writer = Library(place / "library", matcher)
        self.writer.add(self.files)
        self.reader = Library(place / "library", matcher, create=False)
        self.told = Told()
        self.began = time.monotonic()
        self.actions: list[tuple[Callable[[], None], int]] = [
            (self.add, 3),
            (self.change, 2),
            (self.prune, 2),
            (self.remove, 1),
            (self.ask, 8),
            (self.pair, 1),
        ]

    def run(self, minutes: float, look_every: float = 20.0, pause: float = 0.0, steps: int | None = None) -> Told:
        """Do one thing after another for so long, or so many, then compare with a fresh library."""
        look_at = 0.0
        actions, weights = zip(*self.actions, strict=True)
        while (passed := time.monotonic() - self.began) < 60 * minutes and sum(self.told.steps.values()) != steps:
            action = self.chance.choices(actions, weights)[0]
            try:
                action()
            except Exception as error:  # whatever it is, it is counted, and the soak goes on
                self.told.errors.append(f"{action.__name__}: {type(error).__name__}: {error}")
            self.told.steps[action.__name__] = self.told.steps.get(action.__name__, 0) + 1
            if passed >= look_at:
                look_at = passed + look_every
                self._look()
            time.sleep(pause)
        self._look()
        self._compare()
        if self.out:
            self.told.write(self.out)
        return self.told

    def add(self) -> None:
        """New files, fewer the more there are."""
        self._write(self.chance.randint(1, 4) if len(self._ids()) < self.documents else 1)
        self.writer.add(self.files)
        self._check()

    def change(self) -> None:
        """Files with other text."""
        for id in self.chance.sample(self._ids(), 2):
            (self.files / id).write_text(self.chance.choice(self.texts), encoding="utf-8")
        self.writer.add(self.files)
        self._check()

    def prune(self) -> None:
        """Files that are gone."""
        for id in self._some(3):
            (self.files / id).unlink()
        self.writer.add(self.files, prune=True)
        self._check()

    def remove(self) -> None:
        """Documents taken out by name."""
        gone = self._some(2)
        for id in gone:
            (self.files / id).unlink()
        self.writer.remove(gone)
        self._check()

    def ask(self) -> None:
        """Questions by id, by a text from elsewhere, and with a condition."""
        known = set(self._ids())
        for query in (self.chance.choice(sorted(known)), read_text_string(self.chance.choice(self.texts), "asked")):
            hits = self.reader.rank(query, k=10, where=self.chance.choice([None, "words > 100"]))
            assert hits, "nothing was found"
            assert {hit.id for hit in hits} <= known, "a document that is gone was found"
            text = (self.files / hits[0].id).read_text(encoding="utf-8")
            assert hits[0].document.text == text, "an old text was found"

    def pair(self) -> None:
        """All similar pairs."""
        known = set(self._ids())
        for pair in self.reader.pairs(0.9).pairs:
            assert {pair.a, pair.b} <= known, pair

    def _check(self) -> None:
        assert list(self.writer) == self._ids(), "the library holds other documents than the folder"

    def _write(self, count: int) -> None:
        for _ in range(count):
            self.number += 1
            (self.files / f"d{self.number:06}.txt").write_text(self.chance.choice(self.texts), encoding="utf-8")

    def _ids(self) -> list[str]:
        return sorted(file.name for file in self.files.iterdir())

    def _some(self, count: int) -> list[str]:
        """Some documents, as long as there are many."""
        ids = self._ids()
        return self.chance.sample(ids, count if len(ids) > 0.9 * self.documents else 1)

    def _look(self) -> None:
        gc.collect()
        told = self.told
        told.minutes.append((time.monotonic() - self.began) / 60)
        told.memory.append(memory_of() / 1e6)
        told.disk.append(bytes_on_disk(self.place / "library") / 1e6)
        told.opened.append(len(list(Path("/proc/self/fd").iterdir())))
        print(
            f"{told.minutes[-1]:6.1f} min {told.memory[-1]:7.0f} MB {told.disk[-1]:6.0f} MB on disk "
            f"{told.opened[-1]:4} open {len(self.reader):5} documents",
            flush=True,
        )
        if self.out:
            told.write(self.out)

    def _compare(self) -> None:
        fresh = Library(self.place / "fresh", self.matcher)
        fresh.add(self.files)
        ids = list(fresh)
        assert ids == list(self.reader), "the documents are not those of a fresh library"
        queries: list[str | Document] = [*ids[:: -(-len(ids) // 40)]]
        queries += [read_text_string(self.chance.choice(self.texts), "asked") for _ in range(5)]
        for query in queries:
            ours, theirs = (library.rank(query, k=10) for library in (self.reader, fresh))
            self.told.questions += 1
            if not self._alike(ours, theirs):
                self.told.differing.append(query if isinstance(query, str) else query.id)
            passages = (
                {(hit.id, pair.a.start, pair.b.start): pair.score for hit in hits for pair in hit.why}
                for hits in (ours, theirs)
            )
            self._measure("passages", *passages)
        self._measure("pairs", *({(p.a, p.b): p.score for p in one.pairs(0.9).pairs} for one in (self.reader, fresh)))

    def _measure(self, what: str, ours: dict[Any, float], theirs: dict[Any, float]) -> None:
        """How far the scores of what both name are from each other."""
        apart = (abs(ours[name] - theirs[name]) for name in ours.keys() & theirs.keys())
        self.told.furthest[what] = max(self.told.furthest[what], *apart, 0.0)

    def _alike(self, ours: Sequence[Hit], theirs: Sequence[Hit]) -> bool:
        """Whether two answers are the same; documents whose scores are as good as equal may change places."""
        by_place = [dict(enumerate(hit.score for hit in hits)) for hits in (ours, theirs)]
        self._measure("scores", *by_place)
        if max(abs(a.score - b.score) for a, b in zip(ours, theirs, strict=True)) > TOLERANCE:
            return False
        least = theirs[-1].score + TOLERANCE  # at the end of the list one may fall out for another
        firm, found = {h.id: h.score for h in theirs if h.score > least}, {h.id: h.score for h in ours}
        return all(id in found and abs(found[id] - score) <= TOLERANCE for id, score in firm.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds to rest after each step")
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    read = read_all(DataFolder(options.data).documents_file if options.data else [COLLECTION], print)
    texts = [document.text for document in read]
    if not options.data:  # the first half of each example and the second of each other
        texts = [a[: len(a) // 2] + b[len(b) // 2 :] for a, b in permutations(texts, 2)]
    with tempfile.TemporaryDirectory(prefix="soak-") as place:
        soak = Soak(Path(place), texts, options.documents, HybridMatcher(), options.out)
        told = soak.run(options.minutes, pause=options.pause)
    print("\n".join(told.lines() + told.errors))
    if told.errors or told.differing or told.growth > GROWTH:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
