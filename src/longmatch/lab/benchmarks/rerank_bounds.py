"""Bounds on the nDCG of reranking a first stage's best documents: its own order, a random one, the best possible.

    python -m longmatch.lab.benchmarks.rerank_bounds legal.test legal-zh.test [--first bm25] [--depth 40] [--cutoff 10]

Reads the first stage's rankings from benchmarks/results. Relevant documents below `--depth` cannot be recovered.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from longmatch.errors import LongmatchError
from longmatch.lab.benchmarks.stored_results import RESULTS, StoredResults
from longmatch.lab.evaluation.measures import QueryResult
from longmatch.lab.evaluation.measures.ranking import nDCG


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line per set."""
    parser = argparse.ArgumentParser(description="Bounds on reranking a first stage's best documents.")
    parser.add_argument("sets", nargs="+", help="as named in benchmarks/results: legal.test")
    parser.add_argument("--first", default="bm25")
    parser.add_argument("--depth", type=int, default=40)
    parser.add_argument("--cutoff", type=int, default=10)
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    groups = StoredResults.load(options.results).groups
    for name in options.sets:
        runs = groups[name].runs if name in groups else []
        run = next((run for run in runs if run.model == options.first and run.answers), None)
        if run is None:
            raise LongmatchError(f"{options.results} holds no ranking of {name} by {options.first}.")
        values = bounds(list(run.answers.values()), options.depth, options.cutoff)
        print(f"{name}: " + ", ".join(f"{label} {100 * value:.1f}" for label, value in values.items()))


def bounds(results: Sequence[QueryResult], depth: int, cutoff: int) -> dict[str, float]:
    """Means over the queries: the share of relevant documents passed on, and the nDCG of three orders of them."""
    measure = nDCG(cutoff)
    return {
        "passed on": float(np.mean([(query.ranks <= depth).sum() / max(1, len(query.ideal)) for query in results])),
        "random order": float(np.mean([random_order(query, depth, cutoff) for query in results])),
        f"its own nDCG@{cutoff}": float(measure.each(results).mean()),
        "best order": float(measure.each([best_order(query, depth) for query in results]).mean()),
    }


def random_order(result: QueryResult, depth: int, cutoff: int) -> float:
    """Expected nDCG of a random order: every place is equally likely, and the measure is a sum over places."""
    places, measure = min(depth, result.ranked), nDCG(cutoff)
    grades = result.grades[result.ranks <= depth]
    at_each_place = (
        replace(result, ranks=np.array([place]), grades=grades.sum(keepdims=True)) for place in range(1, places + 1)
    )
    return sum(map(measure, at_each_place)) / places if places else 0.0


def best_order(result: QueryResult, depth: int) -> QueryResult:
    """The relevant documents passed on, highest grades first."""
    grades = -np.sort(-result.grades[result.ranks <= depth])
    return replace(result, ranks=np.arange(1, len(grades) + 1), grades=grades)


if __name__ == "__main__":
    main()
