"""Choose how the default matcher weighs its sides, on training queries alone.

    python scripts/choose_spreads.py DATA_FOLDER... [--out out/spreads] [--limit-queries 200]

The evidence for a pair is the sum over the sides of (similarity - chance) / spread (docs/scoring.md), so a ranking
depends on the ratios of the spreads alone: that of words is held, those of phrases and meaning are tried. Printed is
nDCG@10 on the training queries of each set, one row a pair of spreads, the best mean first. Validation and test labels
are not read. What is chosen goes into SPREAD of scripts/make_background.py.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from longmatch.datasets.collection import DataFolder
from longmatch.evaluation.corpus import Corpus
from longmatch.evaluation.encodings.store import Store
from longmatch.evaluation.measures.answers import Floats
from longmatch.evaluation.measures.ranking import nDCG
from longmatch.evaluation.protocols import Task, answers_of
from longmatch.evaluation.scoring.sides import SideScorer
from longmatch.matching.calibration import mean_length
from longmatch.models.hybrid.model import HybridMatcher

SIDES = ("words", "phrases", "meaning")
WORDS = 0.035
PHRASES = (0.0015, 0.002, 0.003, 0.004, 0.006, 0.008)
MEANING = (0.035, 0.05, 0.07, 0.1, 0.14)

Spreads = tuple[float, float, float]


def above_chance(scorer: SideScorer, numbers: Sequence[int]) -> Iterator[tuple[int, dict[str, Floats]]]:
    """For some documents: by side, how far the similarity with every document of the corpus is above chance."""
    shipped, trusted = scorer.matcher.statistics.calibration, scorer.calibration
    for number, sides in scorer.sides(numbers):
        lengths = mean_length(sides["lengths"][[number]], sides["lengths"])
        yield number, {n: trusted.part(n, sides[n], lengths) * shipped.spread[n] for n in shipped.spread}


def measure(folder: Path, out: Path, limit: int | None, matcher: HybridMatcher) -> dict[Spreads, float]:
    """nDCG@10 on the training queries of a set, for each choice."""
    corpus = Corpus(DataFolder(folder))
    task = Task.of(corpus, "train", ranking=True, pairs=False, limit=limit)
    scorer = SideScorer(matcher)
    scorer.open(Store(out / "encodings", corpus).build(scorer.layers), corpus)
    numbers = [number for number in task.numbers(corpus) if number not in scorer.unhandled]
    values: dict[Spreads, list[float]] = {(WORDS, *pair): [] for pair in product(PHRASES, MEANING)}
    bad = np.array(sorted(scorer.unhandled), dtype=np.int64)
    for number, sides in track(above_chance(scorer, numbers), corpus.name, total=len(numbers)):
        id = corpus.ids[number]
        for spreads, found in values.items():
            evidence = np.sum([sides[name] / spread for name, spread in zip(SIDES, spreads, strict=True)], axis=0)
            evidence[bad] = -np.inf
            found.append(float(nDCG(10).each([answers_of(corpus, id, task.qrels[id], evidence)])[0]))
    return {spreads: float(np.mean(found)) for spreads, found in values.items()}


def main() -> None:
    """Measure every choice on every set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, default=Path("out/spreads"))
    parser.add_argument("--limit-queries", type=int, default=None)
    options = parser.parse_args()
    matcher = HybridMatcher()
    found = {folder.name: measure(folder, options.out, options.limit_queries, matcher) for folder in options.data}
    table = Table("words", "phrases", "meaning", *found, "mean")
    every = next(iter(found.values()))
    for spreads in sorted(every, key=lambda s: -sum(values[s] for values in found.values())):
        row = [values[spreads] for values in found.values()]
        table.add_row(*map(str, spreads), *(f"{100 * value:.2f}" for value in row), f"{100 * np.mean(row):.2f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
