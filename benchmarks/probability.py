"""Which sides and lengths best predict whether two documents belong together.

    python benchmarks/probability.py OUT

OUT holds what `longmatch train default --step features` wrote. Each choice is fitted to the training pairs: calibration
error and mean log loss over all sets, every one counting alike, on training and on validation pairs; also with each set
left out of fitting.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from longmatch.lab.datasets.records import Split
from longmatch.lab.default.calibration import (
    LENGTHS,
    equal_weights,
    error_over_sets,
    fit_probability,
    probabilities,
)
from longmatch.lab.default.features import PASSAGE_SIDES, read_pairs
from longmatch.lab.evaluation.measures.query_result import Floats

SPLITS: tuple[Split, ...] = ("train", "validation")
ONE_CURVE = (0.5, 1.0)  # every document counts as long
CHOICES = (
    *((PASSAGE_SIDES, (short, 5000)) for short in (50, 100, 200, 300, 400, 500, 600, 1000)),
    *((PASSAGE_SIDES, (500, long)) for long in (2000, 3000, 8000)),
    *((sides, LENGTHS) for sides in ((*PASSAGE_SIDES, "topic"), (*PASSAGE_SIDES, "named"), ("phrases", "meaning"))),
    *((sides, LENGTHS) for sides in (("words", "meaning"), ("words", "phrases"))),
    *((sides, ONE_CURVE) for sides in (PASSAGE_SIDES, (*PASSAGE_SIDES, "topic"), (*PASSAGE_SIDES, "named"))),
)


def main() -> None:
    """Try every choice."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    folder = parser.parse_args().out
    pairs = {split: read_pairs(folder, split) for split in SPLITS}
    names = list(pairs["train"])
    table = Table(
        "sides", "short", "long", *(f"{split}, {what}" for split in SPLITS for what in ("fitted", "left out"))
    )
    for sides, lengths in CHOICES:
        fitted = fit_probability(list(pairs["train"].values()), sides, lengths)
        others = {name: [rest for other, rest in pairs["train"].items() if other != name] for name in names}
        without = {name: fit_probability(rest, sides, lengths) for name, rest in others.items()}
        cells = []
        for split in SPLITS:
            labels = [pairs[split][name].labels for name in names]
            sets = [(name, pairs[split][name].labelled) for name in names]
            cells.append(figures([probabilities(fitted, labelled) for _, labelled in sets], labels))
            cells.append(figures([probabilities(without[name], labelled) for name, labelled in sets], labels))
        table.add_row(" ".join(sides), *(f"{words:g}" for words in lengths), *cells)
    Console(width=130).print(table)


def figures(predicted: Sequence[Floats], labels: Sequence[np.ndarray]) -> str:
    """Calibration error and mean log loss."""
    values, true = np.concatenate(predicted), np.concatenate(labels)
    loss = -np.log(np.clip(np.where(true, values, 1 - values), 1e-12, 1)) @ equal_weights(labels)
    return f"{error_over_sets(labels, predicted):.3f}, {loss:.3f}"


if __name__ == "__main__":
    main()
