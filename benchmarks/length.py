"""Time and memory of comparing two documents from 5,000 to 160,000 words: both grow linearly.

    python -m benchmarks.length DOCUMENTS.jsonl[.xz] [--words 5000 10000 ...]

Each length runs in a process of its own. The two documents are made of real text: paragraphs of the file's
documents, taken in turn, so that no passage is in both.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

LENGTHS = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000]


def measure(source: Path, words: int) -> dict[str, float]:
    """Read, encode and compare two documents of so many words."""
    from longmatch.documents.draft import Draft
    from longmatch.documents.jsonl import iterate_jsonl
    from longmatch.documents.language import count_words
    from longmatch.models.loading import load

    drafts, counts = (Draft(), Draft()), [0, 0]
    for number, document in enumerate(iterate_jsonl(source)):
        turn = number % 2
        for section in document.sections:
            drafts[turn].heading(section.heading or document.title)
            for paragraph in section.paragraphs:
                if counts[turn] < words:
                    drafts[turn].paragraph(paragraph.of(document.text), paragraph.kind)
                    counts[turn] += count_words(paragraph.of(document.text))
        if min(counts) >= words:
            break
    a, b = (draft.document(name) for draft, name in zip(drafts, "ab", strict=True))
    matcher = load()
    matcher.compare(*(_short(name) for name in "ab"))  # libraries and model are loaded now
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    match = matcher.compare(a, b)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    coverage = min(match.coverage.a, match.coverage.b)
    return {
        "words": (a.words + b.words) / 2,
        "seconds": seconds,
        "peak": after / 1024,
        "grown": (after - before) / 1024,
        "coverage": coverage,
        "score": match.score,
    }


def _short(name: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from longmatch.documents.read import read_text_string

    return read_text_string("One sentence here. Another there.", name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--words", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.documents, options.measure)))
        return
    table = Table(
        "words each", "seconds", "seconds a 1,000 words", "peak MB", "MB beyond the model", "coverage", "score"
    )
    for words in options.words:
        command = [sys.executable, __file__, str(options.documents), "--measure", str(words)]
        environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        row = json.loads(done.stdout.splitlines()[-1])
        table.add_row(
            f"{row['words']:,.0f}",
            f"{row['seconds']:.1f}",
            f"{1000 * row['seconds'] / row['words']:.3f}",
            f"{row['peak']:.0f}",
            f"{row['grown']:.0f}",
            f"{row['coverage']:.3f}",
            f"{row['score']:.3f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
