"""What a library costs by its size: disk, memory, indexing and questions, through the commands that users run.

    python -m benchmarks.scale DATA OUT [--sizes 1000 10000 100000] [--words 1000] [--queries 40]

The documents are made: each is on the subject of a real one of a collection in DATA, whose sentences it mixes with
those of others of the same collection, and has `--words` in the median. So no two are alike, and their words are those
of real prose. Each size is indexed by `longmatch index` in a process of its own, whose processor time and peak memory
are taken, and asked in another: stored documents, and sentences as questions, each after questions that warm up. OUT
keeps the texts and the libraries; what is there is not made again.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from rich.console import Console
from rich.table import Table

from benchmarks.common import bytes_on_disk, in_own_process, memory_of
from longmatch.documents.read import read_text_string
from longmatch.lab.datasets.collection import DataFolder
from longmatch.library.library import Library

COLLECTIONS = ("acl", "peps", "wiki", "legal")
SOURCES = 600  # documents of each collection that sentences are taken from
OWN = 0.6  # share of a document's sentences that are on its subject
SIGMA = 0.7  # of the logarithm of the numbers of words
SEED = 11


@dataclass(frozen=True)
class Cost:
    """A library of one size."""

    documents: int
    text: int  # bytes as UTF-8
    disk: int
    seconds: float  # of indexing, on the clock
    processor: float  # seconds
    memory: int  # bytes, at most
    stored: float  # seconds for the ten best of a stored document, with passages
    asked: float  # of a question
    sections: float  # of the sections that answer it
    asking_memory: int


def sentences_of(data: Path) -> list[list[list[str]]]:
    """Sentences by collection and document."""
    found = []
    for name in COLLECTIONS:
        if (data / name).is_dir():
            folder = DataFolder(data / name)
            documents = [d for _, d in zip(range(SOURCES), folder.documents(), strict=False)]
            found.append([[s.of(d.readable) for s in d.sentences] for d in documents])
    return [[sentences for sentences in collection if len(sentences) > 10] for collection in found]


def made_documents(data: Path, count: int, words: int) -> Iterator[dict[str, object]]:
    """As lines of JSON Lines have them."""
    sources, chance = sentences_of(data), random.Random(SEED)
    for number in range(count):
        collection = chance.choice(sources)
        subject, wanted = chance.choice(collection), words * chance.lognormvariate(0, SIGMA)
        sections, length = list[dict[str, str]](), 0
        while length < wanted or not sections:
            lines = []
            for _ in range(chance.randint(4, 14)):
                lines.append(chance.choice(subject if chance.random() < OWN else chance.choice(collection)))
                length += len(lines[-1].split())
            sections.append({"heading": " ".join(chance.choice(subject).split()[:5]), "text": " ".join(lines)})
        title = " ".join(chance.choice(subject).split()[:9])
        yield {"id": f"made-{number:07}", "title": title, "sections": sections}


def write_texts(data: Path, file: Path, count: int, words: int) -> None:
    """A JSON Lines file of made documents."""
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        with part.open("w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(document) + "\n" for document in made_documents(data, count, words))
        part.rename(file)


def index(place: Path, file: Path) -> tuple[float, float, int]:
    """Seconds on the clock and of processors, and the most memory, of `longmatch index`."""
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "longmatch", "index", str(place), str(file)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - started, processor, after.ru_maxrss * 1024


def ask(place: Path, queries: int) -> tuple[float, float, float, int]:
    """Median seconds for a stored document, a question and its sections; and the most memory."""
    library, chance = Library(place, create=False), random.Random(SEED)
    ids = chance.sample(list(library), 2 * queries)
    texts = [sentence.of(d.readable) for d in map(library.show, ids) for sentence in list(d.sentences)[5:6]]
    questions = [read_text_string(text, "question") for text in texts]
    stored = _median(library.rank, ids, queries)
    asked = _median(library.rank, questions, queries)
    return stored, asked, _median(library.rank_sections, questions, queries), memory_of(key="VmHWM")


def _median(run: Callable[[Any], object], some: Sequence[Any], queries: int) -> float:
    """Of the second half; the first warms up."""
    seconds = []
    for one in some:
        start = time.perf_counter()
        run(one)
        seconds.append(time.perf_counter() - start)
    return median(seconds[queries:])


def text_bytes(file: Path) -> int:
    """Of titles, headings and texts, as UTF-8."""
    total = 0
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            parts = [document["title"], *(s[key] for s in document["sections"] for key in ("heading", "text"))]
            total += sum(len(part.encode()) for part in parts)
    return total


def measure(data: Path, out: Path, size: int, words: int, queries: int) -> Cost:
    """A library of one size, made unless it is there."""
    file, place, kept = out / f"{size}.jsonl", out / f"library-{size}", out / f"{size}.json"
    write_texts(data, file, size, words)
    if not kept.is_file():
        kept.write_text(json.dumps(index(place, file)), encoding="utf-8")
    indexing = json.loads(kept.read_text(encoding="utf-8"))
    asking = in_own_process("benchmarks.scale", data, out, "--ask", place, "--queries", queries)
    return Cost(size, text_bytes(file), bytes_on_disk(place), *indexing, *asking)


def main() -> None:
    """Measure every size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--words", type=int, default=1_000)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        print(json.dumps(ask(options.ask, options.queries)))
        return
    table = Table(
        "documents", "text MB", "disk MB", "disk / text", "ms a document", "processor ms", "memory MB", "stored ms"
    )
    for column in ("question ms", "sections ms", "asking MB"):
        table.add_column(column)
    for size in options.sizes:
        cost = measure(options.data, options.out, size, options.words, options.queries)
        (options.out / f"{size}.cost.json").write_text(json.dumps(asdict(cost)), encoding="utf-8")
        table.add_row(
            f"{size:,}",
            f"{cost.text / 1e6:,.1f}",
            f"{cost.disk / 1e6:,.1f}",
            f"{cost.disk / cost.text:.2f}",
            *(f"{1000 * value / size:.1f}" for value in (cost.seconds, cost.processor)),
            f"{cost.memory / 1e6:,.0f}",
            *(f"{1000 * value:.0f}" for value in (cost.stored, cost.asked, cost.sections)),
            f"{cost.asking_memory / 1e6:,.0f}",
        )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
