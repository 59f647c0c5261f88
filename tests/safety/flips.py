"""Flip bits in every file of a library, one at a time, and ask it the same questions: `make flips FLIPS=5`.

    python -m tests.safety.flips [--flips 5] [--seed 0]

A library whose file has changed must give the answers it gave before, or say in one sentence what is damaged. `--flips`
bits are tried in every file: one in its first bytes, one in its last, the rest anywhere; after one of them the command
`index` is run too, which may say the same, or leave a library that answers as a fresh one.
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmatch.errors import LongmatchError
from tests.safety.children import command, differences, in_child, prepare, state
from tests.safety.scenarios import write_files
from tests.tiny_models import save_bert

ENDS = 16  # bytes
UNUSED = {"writer.lock"}
MODES = ("asked", "indexed")
KINDS = ("same", "sentence", "problem")


@dataclass
class Found:
    """What became of the flips."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)  # by mode and kind
    files: int = 0
    flips: int = 0  # bits
    sentences: dict[str, str] = field(default_factory=dict)  # one of each kind of file
    problems: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """For the terminal."""
        said = [f"  {sentence}" for sentence in sorted(set(self.sentences.values()))[:8]]
        return [*said, *self.problems[:20], *(f"  {mode}: {self._counts([mode])}" for mode in MODES), self.summary()]

    def summary(self) -> str:
        """The last line: what was run, and what came of it."""
        return f"{self.flips:,} flips in {self.files} files, asked and indexed: {self._counts(MODES)}"

    def _counts(self, modes: Sequence[str]) -> str:
        same, sentences, problems = (sum(self.outcomes[mode, kind] for mode in modes) for kind in KINDS)
        return f"{same:,} same answers, {sentences:,} sentences, {problems:,} problems"


class Flipper:
    """A library, and copies of it with a bit flipped."""

    def __init__(self, place: Path, seed: int) -> None:
        self.place, self.chance, self.found = place, random.Random(seed), Found()
        (place / "bert").mkdir()
        prepare(save_bert(place / "bert"))
        self.texts = write_files(place / "texts", range(8), range(100, 106))
        self.library = place / "library"
        self._run("index", self.library, self.texts)
        self._run("remove", self.library, "d003.txt", "r104")  # deletions have files of their own
        looked = in_child(lambda: state(self.library))
        assert looked.status == 0, looked.errors
        self.before = looked.answer
        self._run("index", place / "whole", self.texts)
        self.whole = in_child(lambda: state(place / "whole")).answer

    def _run(self, *words: object) -> None:
        done = in_child(command(*words))
        assert done.status == 0, done.errors

    def run(self, flips: int) -> Found:
        """Flip so many bits of every file."""
        names = sorted(p.relative_to(self.library).as_posix() for p in self.library.rglob("*") if p.is_file())
        for name in names:
            if name in UNUSED or not (size := (self.library / name).stat().st_size):
                continue
            self.found.files += 1
            bits = list(self._bits(size, flips))
            self.found.flips += len(bits)
            looked = in_child(lambda name=name, bits=bits: [self._ask(name, bit) for bit in bits])
            outcomes = looked.answer or [f"the process ended with {looked.status}: {looked.errors[-500:]}"]
            outcomes += ["not asked: the process had ended"] * (len(bits) - len(outcomes))
            for bit, outcome in zip(bits, outcomes, strict=True):
                self._count(f"{name}, bit {bit}", outcome, "asked")
            self._count(f"{name}, bit {bits[-1]}, indexed", self._index(name, bits[-1]), "indexed")
        return self.found

    def _bits(self, size: int, flips: int) -> Iterator[int]:
        if flips > 1:
            yield self.chance.randrange(8 * min(ENDS, size))
        for _ in range(flips - 2):
            yield self.chance.randrange(8 * size)
        yield 8 * size - 1 - self.chance.randrange(8 * min(ENDS, size))

    def _copy(self, name: str, bit: int) -> Path:
        library = self.place / "flipped"
        shutil.rmtree(library, ignore_errors=True)
        shutil.copytree(self.library, library)
        flip(library / name, bit)
        return library

    def _ask(self, name: str, bit: int) -> str:
        """What questions give after a flip."""
        library = self._copy(name, bit)
        try:
            seen = state(library)
        except LongmatchError as error:
            return f"sentence: {error}"
        return judged(seen, self.before)

    def _index(self, name: str, bit: int) -> str:
        """What the command `index`, and then questions, give."""
        library = self._copy(name, bit)
        done = in_child(command("index", library, self.texts))
        if done.status == 2 and "Traceback" not in done.errors:
            return f"sentence: {done.errors.strip()}"
        if done.status:
            return f"the command ended with {done.status}: {done.errors[-500:]}"
        looked = in_child(lambda: self._asked_again(library))
        return looked.answer or f"the process ended with {looked.status}: {looked.errors[-500:]}"

    def _asked_again(self, library: Path) -> str:
        try:
            return judged(state(library), self.whole)
        except LongmatchError as error:
            return f"sentence: {error}"

    def _count(self, what: str, outcome: str, mode: str) -> None:
        kind, _, sentence = outcome.partition(": ")
        if kind == "sentence" and "\n" not in sentence:
            self.found.sentences.setdefault(what.split("/", maxsplit=1)[0], sentence.replace(str(self.place), ""))
        elif kind != "same":
            kind = "problem"
            self.found.problems.append(f"{what}: {outcome[:600]}")
            print(self.found.problems[-1], flush=True)
        self.found.outcomes[mode, kind] += 1


def flip(path: Path, bit: int) -> None:
    """Flip one bit of a file."""
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def judged(seen: Any, wanted: Any) -> str:
    """Whether a library is seen as it should be."""
    if seen is None:
        return "the library is not found"
    if seen["texts"] != wanted["texts"] or seen["count"] != wanted["count"]:
        return "other documents"
    wrong = differences(as_json(seen["answers"]), wanted["answers"])
    return f"wrong: {wrong[0]}" if wrong else "same"


def as_json(answers: Any) -> Any:
    """Answers as another process gives them."""
    return [[list(hit) for hit in answer] for answer in answers]


def main() -> None:
    """Flip bits, and say what became of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--flips", type=int, default=5, help="in every file")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="longmatch-flips-") as folder:
        found = Flipper(Path(folder), options.seed).run(options.flips)
    print("\n".join(found.lines()))
    sys.exit(bool(found.problems))


if __name__ == "__main__":
    main()
