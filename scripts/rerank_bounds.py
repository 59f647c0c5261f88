"""Between which nDCG a model can lie that ranks a first stage's best anew: its own order, one by chance, the best one.

    python scripts/rerank_bounds.py legal.test legal-zh.test [--first bm25] [--depth 40] [--cutoff 10]

It reads what the first stage answered (benchmarks/results). What it did not hand on stays behind, in whatever order.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from stored_results import HOME, Stored

from longmatch.errors import LongmatchError
from longmatch.lab.evaluation.measures import Answers
from longmatch.lab.evaluation.measures.ranking import nDCG


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each set."""
    parser = argparse.ArgumentParser(description="What ranking a first stage's best anew can reach.")
    parser.add_argument("sets", nargs="+", help="as they are named in benchmarks/results: legal.test")
    parser.add_argument("--first", default="bm25")
    parser.add_argument("--depth", type=int, default=40)
    parser.add_argument("--cutoff", type=int, default=10)
    parser.add_argument("--results", type=Path, default=HOME)
    given = parser.parse_args(arguments)
    stored = Stored.load(given.results).groups
    for name in given.sets:
        runs = stored[name].runs if name in stored else []
        found = [run for run in runs if run.model == given.first and run.answers]
        if not found:
            raise LongmatchError(f"What {given.first} answered on {name} is not at hand.")
        told = bounds(list(found[0].answers.values()), given.depth, given.cutoff)
        print(f"{name}: " + ", ".join(f"{word} {100 * value:.1f}" for word, value in told.items()))


def bounds(answers: Sequence[Answers], depth: int, cutoff: int) -> dict[str, float]:
    """Means over the queries: the share of true answers handed on, and the nDCG of three orders of what is."""
    measure = nDCG(cutoff)
    return {
        "handed on": float(np.mean([(one.ranks <= depth).sum() / max(1, len(one.wanted)) for one in answers])),
        "by chance": float(np.mean([by_chance(one, depth, cutoff) for one in answers])),
        f"its own nDCG@{cutoff}": float(measure.each(answers).mean()),
        "the best order": float(measure.each([best_order(one, depth) for one in answers]).mean()),
    }


def by_chance(answers: Answers, depth: int, cutoff: int) -> float:
    """The nDCG to expect of a random order: each answer is as likely at every place, and the measure is a sum."""
    places, measure = min(depth, answers.ranked), nDCG(cutoff)
    held = answers.grades[answers.ranks <= depth]
    alone = (
        replace(answers, ranks=np.array([place]), grades=held.sum(keepdims=True)) for place in range(1, places + 1)
    )
    return sum(map(measure, alone)) / places if places else 0.0


def best_order(answers: Answers, depth: int) -> Answers:
    """The answers handed on, the best ones first."""
    held = -np.sort(-answers.grades[answers.ranks <= depth])
    return replace(answers, ranks=np.arange(1, len(held) + 1), grades=held)


if __name__ == "__main__":
    main()
