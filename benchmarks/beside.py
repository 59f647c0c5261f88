"""This checkout beside another one, and beside what a user would take instead: indexing, disk, questions.

    python -m benchmarks.beside FILE.jsonl [--other CHECKOUT] [--queries 40] [--without-neighbours]

FILE is indexed by this checkout's `Library` and by the other's, each in a process of its own, one after the other in
one run; so are the texts by scikit-learn's TF-IDF of words and bigrams, by bm25s, and by sentence-transformers with
MiniLM (of the first `ENCODED` documents, cut into pieces of 200 words). Seconds are processor time of all threads. Then
the same stored documents are asked of both libraries, the ten best with passages, after a first round that warms up.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from rich.console import Console
from rich.table import Table

from benchmarks.common import bytes_on_disk

HERE = Path(__file__).parents[1]
ENCODED = 40
PIECE = 200  # words
RUN = """
import json, sys, time
from statistics import median
from longmatch.library.library import Library
file, place, queries = sys.argv[1], sys.argv[2], int(sys.argv[3])
library = Library(place)
library.matcher.encode([])
start, clock = time.process_time(), time.perf_counter()
library.add(file)
spent = time.process_time() - start, time.perf_counter() - clock
ids = list(library)[:: max(1, len(library) // queries)][:queries]
seconds = []
for turn in range(2):
    for id in ids:
        start = time.perf_counter()
        library.rank(id, 10)
        seconds.append(time.perf_counter() - start)
print(json.dumps([*spent, median(seconds[:len(ids)]), median(seconds[len(ids):]), len(library)]))
"""


def library_of(checkout: Path, file: Path, place: Path, queries: int) -> list[float]:
    """Processor and clock seconds of indexing; seconds of a question asked first, and again; documents."""
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-c", RUN, str(file), str(place), str(queries)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment, cwd=place.parent)
    return list(json.loads(done.stdout.splitlines()[-1]))


def processor_seconds(run: Callable[[], Any]) -> float:
    """Of all threads."""
    start = time.process_time()
    run()
    return time.process_time() - start


def neighbours(texts: list[str]) -> dict[str, float]:
    """Processor seconds a document of what a user would take instead."""
    import bm25s
    from sentence_transformers import SentenceTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer

    from longmatch.encoders.pretrained import default_folder

    def of_bm25s() -> None:
        bm25s.BM25().index(bm25s.tokenize(texts, show_progress=False), show_progress=False)

    model = SentenceTransformer(str(default_folder()), device="cpu", trust_remote_code=False)
    words = [text.split() for text in texts[:ENCODED]]
    pieces = [" ".join(each[i : i + PIECE]) for each in words for i in range(0, len(each), PIECE)]
    model.encode(pieces[:8])
    tfidf = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    return {
        "scikit-learn TF-IDF, words and bigrams": processor_seconds(lambda: tfidf.fit_transform(texts)) / len(texts),
        "bm25s": processor_seconds(of_bm25s) / len(texts),
        "sentence-transformers, MiniLM": processor_seconds(lambda: model.encode(pieces)) / len(words),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--other", type=Path)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--without-neighbours", action="store_true")
    options = parser.parse_args()
    documents = [json.loads(line) for line in options.file.read_text(encoding="utf-8").splitlines()]
    texts = [" ".join(section["text"] for section in document["sections"]) for document in documents]
    size = sum(len(text.encode()) for text in texts)
    table = Table("", "processor ms a document", "clock ms", "disk / text", "asked first, ms", "asked again, ms")
    with TemporaryDirectory() as temporary:
        checkouts = {"this checkout": HERE} | ({str(options.other): options.other} if options.other else {})
        for number, (name, checkout) in enumerate(checkouts.items()):
            place = Path(temporary) / str(number)
            processor, clock, first, again, count = library_of(
                checkout.resolve(), options.file.resolve(), place, options.queries
            )
            costs = 1000 * processor / count, 1000 * clock / count
            disk = f"{bytes_on_disk(place) / size:.2f}"
            table.add_row(name, *(f"{x:.1f}" for x in costs), disk, *(f"{1000 * x:.1f}" for x in (first, again)))
    if not options.without_neighbours:
        for name, seconds in neighbours(texts).items():
            table.add_row(name, f"{1000 * seconds:.1f}")
    Console(width=140).print(
        f"{len(texts)} documents, {size / 1e6:.1f} MB of text, median {median(map(len, texts)):,.0f} characters"
    )
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
