"""Which sides and lengths tell best how likely it is that two documents belong together.

    python benchmarks/probability.py OUT

OUT is what `scripts/train_default.py features` wrote. For each choice, fitted on the training pairs: calibration error
and mean log loss of all sets, every one counting alike, on training and on validation pairs; with each set left out of
fitting too.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.lab.default.calibrating import BOTH_WAYS, LENGTHS, PairSides, alike, error_of_all, probability_of, told
from longmatch.lab.evaluation.measures.answers import Floats

SPLITS = ("train", "validation")
ONE_CURVE = (0.5, 1.0)  # every document is a long one
CHOICES = (
    *((BOTH_WAYS, (short, 5000)) for short in (50, 100, 200, 300, 400, 500, 600, 1000)),
    *((BOTH_WAYS, (500, long)) for long in (2000, 3000, 8000)),
    *((sides, LENGTHS) for sides in ((*BOTH_WAYS, "topic"), (*BOTH_WAYS, "named"), ("phrases", "meaning"))),
    *((sides, LENGTHS) for sides in (("words", "meaning"), ("words", "phrases"))),
    *((sides, ONE_CURVE) for sides in (BOTH_WAYS, (*BOTH_WAYS, "topic"), (*BOTH_WAYS, "named"))),
)


def main() -> None:
    """Try every choice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    folder = parser.parse_args().out
    names = sorted(path.name.removesuffix("-train-pairs.npz") for path in folder.glob("*-train-pairs.npz"))
    pairs = {(name, s): PairSides.read(folder / f"{name}-{s}-pairs.npz") for name in names for s in SPLITS}
    table = Table(
        "sides", "short", "long", *(f"{split}, {what}" for split in SPLITS for what in ("fitted", "left out"))
    )
    for sides, lengths in CHOICES:
        fitted = probability_of([pairs[name, "train"] for name in names], sides, lengths)
        others = {name: [pairs[other, "train"] for other in names if other != name] for name in names}
        apart = {name: probability_of(rest, sides, lengths) for name, rest in others.items()}
        cells = []
        for split in SPLITS:
            labelled = {name: pairs[name, split].labelled for name in names}
            labels = {name: pairs[name, split].labels for name in names}
            cells.append(worth({name: told(fitted, labelled[name]) for name in names}, labels))
            cells.append(worth({name: told(apart[name], labelled[name]) for name in names}, labels))
        table.add_row(" ".join(sides), *(f"{words:g}" for words in lengths), *cells)
    Console(width=130).print(table)


def worth(said: Mapping[str, Floats], labels: Mapping[str, np.ndarray]) -> str:
    """Calibration error and mean log loss."""
    found, true = np.concatenate(list(said.values())), np.concatenate(list(labels.values()))
    loss = -np.log(np.clip(np.where(true, found, 1 - found), 1e-12, 1)) @ alike(list(labels.values()))
    return f"{error_of_all(list(labels.values()), list(said.values())):.3f}, {loss:.3f}"


if __name__ == "__main__":
    main()
