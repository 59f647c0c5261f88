"""The steps that make the default matcher, the report on how good it is, and its installation into the package."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.default.calibration import Calibration, Probability
from longmatch.default.matcher import HybridMatcher
from longmatch.default.sides import NAMES
from longmatch.default.statistics import (
    CALIBRATION,
    FOLDER,
    PROBABILITY,
    SENTENCES,
    SPACE,
    STYLES,
    UNRELATED,
    shipped_statistics,
)
from longmatch.default.unrelated import Prior
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.records import SPLITS
from longmatch.lab.default.background import combine, read_kinds, styles_of, write_background, write_kinds
from longmatch.lab.default.calibration import belief, left_out, write_calibration
from longmatch.lab.default.features import PASSAGE_SIDES, QueryLists, read_lists, read_pairs, write_features
from longmatch.lab.default.weights import WEIGHED, fit_weights, ndcg, write_weights
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.significance import compare_queries
from longmatch.lab.training.settings import fill
from longmatch.lexical.weights import FILE, FREQUENCIES
from longmatch.parallel import half_the_cores, use_processes

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
STEPS = ("background", "features", "weights", "calibration", "report")
SETS = ("acl", "legal", "news", "papers", "peps", "wiki")  # legal has queries alone, news pairs alone
MOST_BYTES = 15_000_000  # of safetensors in the package
IN_FOLDER = (SENTENCES, SPACE, STYLES, CALIBRATION, PROBABILITY, UNRELATED)
TARGETS = {FREQUENCIES: FILE, **{name: FOLDER / name for name in IN_FOLDER}}


@dataclass(frozen=True)
class Settings:
    """What `--set` can change; lists are comma-separated."""

    queries: int | None = 300  # training queries of a set, at most
    sources: int | None = 200  # sources of the pairs of a set and split, at most
    splits: str = ",".join(SPLITS)  # whose features are made; no test or validation label is learnt from
    sides: str = ",".join(WEIGHED)  # that get a weight
    layers: str | None = None  # a folder of tokens and vectors that runs can share; by default OUT/layers


def train_default(
    data: Path | None,
    out: Path,
    steps: str | None = None,
    sets: str | None = None,
    install: bool = False,
    **values: Any,
) -> None:
    """Make the default matcher, or parts of it, in the folder `out`; a step reads what earlier steps wrote there.

    - background: how common terms are in each kind of text, its unrelated sentences and style, from training documents
    - features: the sides of the queries' best documents and of pairs, from DATA/SET
    - weights: of the sides, from training queries
    - calibration: score and probability, from training pairs
    - report: nDCG@10 and calibration errors on all splits, also with each set left out

    `steps` and `sets` are comma-separated. Only `install` changes the package: after the steps, or at once if none are
    named, it copies what `out` holds into it. `values` are `Settings`.
    """
    chosen = () if install and not steps else sorted(_choose(steps or "all", STEPS, "step"), key=STEPS.index)
    (settings,) = fill(values, [Settings])
    sides = _choose(settings.sides, NAMES, "side")
    out.mkdir(parents=True, exist_ok=True)
    use_processes(half_the_cores())
    if {"background", "features"} & set(chosen) and data is None:
        raise LongmatchError("Name --data, the folder that holds the data sets' folders.")
    for step in chosen:
        print(f"{step}:", flush=True)
        if step == "background" and data:
            write_kinds(data, out)
            write_background(out)
        elif step == "features" and data:
            layers = Path(settings.layers) if settings.layers else out / "layers"
            splits = _choose(settings.splits, SPLITS, "split")
            names = _split(sets) if sets else SETS
            write_features(
                partial(matcher_of, out), data, out, names, splits, layers, settings.queries, settings.sources
            )
        elif step == "weights":
            write_weights(out, sides)
        elif step == "calibration":
            write_calibration(out)
        else:
            write_report(out, sides)
    if install:
        install_default(out)


def _split(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())


def _choose(names: str, known: Sequence[str], what: str) -> tuple[Any, ...]:
    """Comma-separated names, each a known one; "all" is all of them.

    >>> _choose("weights, features", STEPS, "step")
    ('weights', 'features')
    """
    chosen = tuple(known) if names == "all" else _split(names)
    for name in chosen:
        if name not in known:
            raise LongmatchError(f"There is no {what} {name}. Name one of {', '.join(known)}.")
    return chosen


def matcher_of(folder: Path, without: str | None = None) -> HybridMatcher:
    """The default matcher, with what the folder holds instead of what the package does; `without` a kind of text."""
    statistics = shipped_statistics()
    if kinds := read_kinds(folder, without):
        terms, sentences, space = combine(kinds)
        statistics = replace(statistics, terms=terms, sentences=sentences, space=space, kinds=styles_of(kinds))
    if (folder / CALIBRATION).is_file():
        statistics = replace(statistics, calibration=Calibration.read(folder / CALIBRATION))
    if (folder / PROBABILITY).is_file():
        statistics = replace(statistics, probability=Probability.read(folder / PROBABILITY))
    if (folder / UNRELATED).is_file():
        statistics = replace(statistics, prior=Prior.read(folder / UNRELATED))
    return HybridMatcher(statistics=statistics)


def install_default(folder: Path) -> None:
    """Copy what a folder holds of statistics, calibration and probability into the package."""
    sources = {name: folder / name for name in TARGETS if (folder / name).is_file()}
    if not sources:
        raise LongmatchError(f"{folder} holds nothing to install. Run the steps first.")
    files = {name: sources.get(name, target) for name, target in TARGETS.items() if name.endswith(".safetensors")}
    size = sum(path.stat().st_size for path in files.values())
    if size > MOST_BYTES:
        raise LongmatchError(
            f"The package would hold {size:,} bytes of statistics; at most {MOST_BYTES:,} are allowed."
        )
    for name, source in sources.items():
        shutil.copyfile(source, TARGETS[name])
        TARGETS[name].chmod(0o644)  # safetensors are written for their owner alone
        print(f"{TARGETS[name]}: {source.stat().st_size:,} bytes")


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
    columns = list(next(iter(rows.values())))
    rows["mean"] = {column: float(np.mean([row[column] for row in rows.values()])) for column in columns}
    table = Table("set", *columns, title="probability of test pairs in their collection, learnt without the set")
    for name, row in rows.items():
        table.add_row(name, *(f"{row[column]:.3f}" for column in columns))
    return table
