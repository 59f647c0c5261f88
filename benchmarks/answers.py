"""Record what the software answers, and compare two recordings: the judge of a change that should change no answer.

    python -m benchmarks.answers record OUT [--data DATA/peps] [--python ...]
    python -m benchmarks.answers compare BEFORE AFTER

`record` runs the command line itself on the example collection (read, compare, rank, pairs, show) and, with `--data`,
measures the models of ROWS on a labelled collection. `compare` exits with 1 where texts, orders or structure differ, or
numbers by more than 1e-6.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TOLERANCE = 1e-6
QUERIES = 8  # documents of the collection that the others are ranked for
PAIRS = 6
ROWS = "default,sdr,mean"  # tfidf, phrases and bm25 are measured with any of them
VOLATILE = {  # what changes from run to run, or tells where and when something was measured
    *("seconds", "encoding_seconds", "scoring_seconds", "made", "command", "commit", "version", "code", "facts"),
    *("device", "computes", "source", "date", "when", "seconds_scoring", "seconds_per_document"),
}


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recorder = verbs.add_parser("record")
    recorder.add_argument("out", type=Path)
    recorder.add_argument("--data", type=Path, help="a labelled collection to measure the models on")
    recorder.add_argument("--source", type=Path, default=ROOT, help="the checkout whose answers are recorded")
    comparer = verbs.add_parser("compare")
    comparer.add_argument("before", type=Path)
    comparer.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.verb == "record":
        record(options.out, options.source.resolve(), options.data)
    else:
        sys.exit(compare(options.before, options.after))


def record(out: Path, source: Path, data: Path | None) -> None:
    """Write one JSON file for each command."""
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(source / "src"), "OMP_WAIT_POLICY": "PASSIVE"}
    with tempfile.TemporaryDirectory() as scratch:
        collection = Path(scratch) / "collection"
        shutil.copytree(ROOT / "examples" / "collection", collection)
        names = sorted(path.name for path in collection.iterdir())

        def run(*words: str) -> str:
            command = [sys.executable, "-m", "longmatch", *words]
            done = subprocess.run(command, cwd=scratch, env=environment, check=True, stdout=subprocess.PIPE)
            return done.stdout.decode()

        def keep(name: str, *words: str) -> None:
            print(name, flush=True)
            (out / f"{name}.json").write_text(run(*words), encoding="utf-8")

        for name in names:
            keep(f"read-{name}", "read", f"collection/{name}", "--json")
        for a, b in list(pairwise(names))[:: len(names) // PAIRS]:
            keep(f"compare-{a}-{b}", "compare", f"collection/{a}", f"collection/{b}", "--json")
        for name in names[:: len(names) // QUERIES]:
            keep(f"rank-{name}", "rank", f"collection/{name}", "collection", "--json")
        run("index", "library", "collection")
        keep("pairs", "pairs", "library", "--min", "0.1", "--json")
        keep("show", "show", "library", "--json")
        keep("show-one", "show", "library", names[0], "--json")
        if data:
            run("evaluate", "--data", str(data.resolve()), "--models", ROWS, "--out", str(out / "evaluation"))


def compare(before: Path, after: Path) -> int:
    """Print every difference and the largest of the numbers'; the exit code."""
    files = sorted(path.relative_to(before) for path in before.rglob("*.json") if "encodings" not in path.parts)
    differences = [f"{file}: missing" for file in files if not (after / file).is_file()]
    largest = 0.0
    for file in files:
        if (after / file).is_file():
            one, other = (json.loads((folder / file).read_text(encoding="utf-8")) for folder in (before, after))
            for where, distance in differing(one, other):
                largest = max(largest, distance)
                if distance > TOLERANCE:
                    differences.append(f"{file}{where}: {distance:g}")
    print("\n".join(differences[:50]))
    print(f"{len(files)} files compared, {len(differences)} differences above {TOLERANCE:g}; largest {largest:g}")
    return 1 if differences else 0


def differing(a: Any, b: Any, where: str = "") -> Iterator[tuple[str, float]]:
    """Where two JSON values differ, and by how much; infinitely where they are not both numbers."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() - VOLATILE == b.keys() - VOLATILE:
        for key in a.keys() - VOLATILE:
            yield from differing(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for place, pair in enumerate(zip(a, b, strict=True)):
            yield from differing(*pair, f"{where}[{place}]")
    elif type(a) is float and isinstance(b, float | int):
        yield where, abs(a - b)
    elif a != b:
        yield where, float("inf")


if __name__ == "__main__":
    main()
