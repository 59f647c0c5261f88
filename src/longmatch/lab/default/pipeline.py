"""The steps that make the default matcher, and its installation into the package."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from longmatch.default.calibration import Calibration
from longmatch.default.matcher import HybridMatcher
from longmatch.default.probability import Probability
from longmatch.default.sides import NAMES
from longmatch.default.statistics import (
    CALIBRATION,
    FOLDER,
    PROBABILITY,
    SENTENCES,
    STYLES,
    UNRELATED,
    shipped_statistics,
)
from longmatch.default.unrelated import Prior
from longmatch.encoders.backbone import Backbone
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.records import SPLITS
from longmatch.lab.default.background import combine, read_kinds, styles_of, write_background, write_kinds
from longmatch.lab.default.calibration import write_calibration
from longmatch.lab.default.features import write_features
from longmatch.lab.default.report import write_report
from longmatch.lab.default.weights import WEIGHED, write_weights
from longmatch.lab.training.settings import fill
from longmatch.lexical.background import FILE, FREQUENCIES
from longmatch.parallel import half_the_cores, use_processes

STEPS = ("background", "features", "weights", "calibration", "report")
SETS = ("acl", "legal", "news", "papers", "peps", "wiki")  # legal has queries alone, news pairs alone
MOST_BYTES = 15_000_000  # of safetensors in the package
IN_FOLDER = (SENTENCES, STYLES, CALIBRATION, PROBABILITY, UNRELATED)
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
        terms, sentences = combine(kinds)
        statistics = replace(statistics, terms=terms, sentences=sentences, kinds=styles_of(kinds))
    if (folder / CALIBRATION).is_file():
        statistics = replace(statistics, calibration=Calibration.read(folder / CALIBRATION))
    if (folder / PROBABILITY).is_file():
        statistics = replace(statistics, probability=Probability.read(folder / PROBABILITY))
    if (folder / UNRELATED).is_file():
        statistics = replace(statistics, prior=Prior.read(folder / UNRELATED))
    return HybridMatcher(Backbone.load(), statistics)


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
