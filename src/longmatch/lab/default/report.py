"""How good the result is: nDCG@10 on validation and test queries, and calibration errors on pairs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.default.sides import NAMES
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.records import SPLITS
from longmatch.lab.default.calibration import belief, left_out
from longmatch.lab.default.features import PASSAGE_SIDES, QueryLists, read_lists, read_pairs
from longmatch.lab.default.weights import WEIGHED, fit_weights, ndcg
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.significance import compare_queries

REPORT = "report.txt"
ABLATIONS = (
    *((side,) for side in NAMES),
    PASSAGE_SIDES[:2],
    PASSAGE_SIDES,
    (*PASSAGE_SIDES, "named"),
    (*PASSAGE_SIDES, "title", "named"),
    (*PASSAGE_SIDES, "cites_title", "named"),
    WEIGHED,
    *(tuple(side for side in WEIGHED if side != left_out) for left_out in PASSAGE_SIDES),
    NAMES,
)

Lists = Mapping[str, QueryLists]


def write_report(folder: Path, sides: Sequence[str] = WEIGHED) -> None:
    """Print the tables for which there are features, and write them to a file."""
    train, validation, test = (read_lists(folder, split) for split in SPLITS)
    tables = []
    if train and train.keys() == validation.keys():
        tables.append(ablation_table(train, validation))
    if train and train.keys() == test.keys():
        tables.append(ranking_table(train, test, sides))
    if len(read_pairs(folder, "train")) > 1 and read_pairs(folder, "test"):
        tables.append(belief_table(folder))
    if not tables:
        raise LongmatchError(f"{folder} holds nothing to report on. Run the steps features and weights first.")
    console = Console(width=150, record=True)
    for table in tables:
        console.print(table)
    console.save_text(str(folder / REPORT))


def ablation_table(train: Lists, validation: Lists) -> Table:
    """nDCG@10 on the validation queries for several choices of sides.

    Learnt on all sets; and on the other sets alone, as for a collection that nobody has seen.
    """
    table = Table("learnt on", "sides", *train, "mean", "weights", title="nDCG@10, validation queries")
    for sides in ABLATIONS:
        weights = fit_weights(list(train.values()), sides)
        values = [float(np.mean(ndcg(validation[name], sides, weights))) for name in train]
        table.add_row("all", " ".join(sides), *_percent(values), " ".join(f"{weight:.2f}" for weight in weights))
        if len(sides) > 1 and len(train) > 1:
            values = [float(np.mean(each)) for each in _left_out(train, validation, sides)]
            table.add_row("the others", " ".join(sides), *_percent(values), "")
    return table


def ranking_table(train: Lists, test: Lists, sides: Sequence[str]) -> Table:
    """nDCG@10 on the test queries, which nothing was chosen by, with the p of the difference from words alone."""
    table = Table("", "sides", *train, "mean", "above words", title="nDCG@10, test queries")
    words = _each(test, train, ["words"], np.ones(1, dtype=np.float32))
    for side in PASSAGE_SIDES:
        values = _each(test, train, [side], np.ones(1, dtype=np.float32))
        table.add_row("one side", side, *_compared(values, words))
    learnt = _each(test, train, sides, fit_weights(list(train.values()), sides))
    table.add_row("learnt on all", " ".join(sides), *_compared(learnt, words))
    if len(train) > 1:
        left_out = _left_out(train, test, sides)
        table.add_row("learnt on the others", " ".join(sides), *_compared(left_out, words))
    return table


def _each(lists: Lists, names: Sequence[str] | Lists, sides: Sequence[str], weights: np.ndarray) -> list[Floats]:
    """nDCG@10 of every query of each set."""
    return [ndcg(lists[name], sides, weights) for name in names]


def _left_out(train: Lists, measured: Lists, sides: Sequence[str]) -> list[Floats]:
    """nDCG@10 of every query of each set, with weights learnt on the other sets."""
    others = {name: [lists for other, lists in train.items() if other != name] for name in train}
    return [ndcg(measured[name], sides, fit_weights(others[name], sides)) for name in train]


def _compared(values: Sequence[Floats], words: Sequence[Floats]) -> list[str]:
    """The mean of each set with the p of its difference; the mean over sets; and how far it is above, set by set."""
    means = [float(np.mean(each)) for each in values]
    above = np.mean([mean / float(np.mean(each)) - 1 for mean, each in zip(means, words, strict=True)])
    cells = [
        f"{100 * mean:.1f} ({compare_queries(a, b).p:.4f})" for mean, a, b in zip(means, values, words, strict=True)
    ]
    return [*cells, f"{100 * float(np.mean(means)):.1f}", f"{100 * float(above):+.1f} %"]


def _percent(values: Sequence[float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in [*values, float(np.mean(values))]]


def belief_table(folder: Path) -> Table:
    """How believable the probability is on each set's test pairs in their collection, learnt without the set."""
    train, test = read_pairs(folder, "train"), read_pairs(folder, "test")
    rows = {name: belief(*left_out(train, name), pairs) for name, pairs in test.items()}
    if not rows:
        raise LongmatchError(f"{folder} holds no test pairs. Run --step features first.")
    columns = list(next(iter(rows.values())))
    table = Table("set", *columns, title="probability of test pairs in their collection, learnt without the set")
    for name, row in rows.items():
        table.add_row(name, *(f"{row[column]:.3f}" for column in columns))
    table.add_row("mean", *(f"{np.mean([row[column] for row in rows.values()]):.3f}" for column in columns))
    return table
