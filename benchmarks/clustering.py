"""Direct clustering of one pair of documents: how its time grows from 80 sentences to 2,000, on one core.

    python -m benchmarks.clustering DOCUMENTS.jsonl[.xz] [--judge]

Real sentences: those of the file's documents one after the other, half of them as the one document and half as the
other. Words are counted in: cutting (from text), similarity, clustering. `--judge` times scikit-learn's spectral
clustering of the same similarities too (k-means as by default, and cluster_qr), which takes a while at 2,000.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # before numpy loads

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.table import Table

from longmatch.documents.jsonl import iterate_jsonl
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE, spectral_clusters
from longmatch.lab.words import Floats, stream_of, textrank_similarity, written_words
from longmatch.lexical.terms import hash_word

SIZES = (80, 250, 500, 1000, 2000)


def best_time(run: Callable[[], object], least: float = 0.5) -> float:
    """The quickest of several runs, in milliseconds: three at least, and more until `least` seconds have passed."""
    run()
    times: list[float] = []
    while len(times) < 3 or sum(times) < least:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def judge(similarity: Floats, assign: str) -> Callable[[], object]:
    from sklearn.cluster import spectral_clustering

    count = round(len(similarity) / EXPECTED_SIZE)
    return lambda: spectral_clustering(similarity, n_clusters=count, random_state=0, assign_labels=assign)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "Graph is not fully connected")
    found = ((s.of(d.readable), d.language) for d in iterate_jsonl(options.documents) for s in d.sentences)
    texts = list(islice(found, max(SIZES)))
    judges = {"scikit-learn, k-means": "kmeans", "scikit-learn, cluster_qr": "cluster_qr"} if options.judge else {}
    table = Table("sentences", "words", "similarity", "clustering", "together, ms", "times those of 80", *judges)
    first = 0.0
    for size in SIZES:
        cut = texts[:size]
        words = stream_of([hash_word(w) for w, _ in written_words(*each)] for each in cut)
        similarity = textrank_similarity(words)
        parts = [
            best_time(lambda cut=cut: stream_of([hash_word(w) for w, _ in written_words(*each)] for each in cut)),  # type: ignore[misc]
            best_time(lambda words=words: textrank_similarity(words)),  # type: ignore[misc]
            best_time(lambda similarity=similarity: spectral_clusters(similarity)),  # type: ignore[misc]
        ]
        first = first or sum(parts)
        others = [f"{best_time(judge(similarity, assign), 0.0):,.0f}" for assign in judges.values()]
        table.add_row(
            str(len(cut)), *(f"{p:.1f}" for p in parts), f"{sum(parts):.1f}", f"{sum(parts) / first:.0f}", *others
        )
    Console().print(table)


if __name__ == "__main__":
    main()
