"""CoLDE's figure 4 for any documents: similarities of documents, sections and chunks, as HTML and PNG.

    python -m benchmarks.papers.colde_figure MODEL A B [C ...] --out docs/colde-levels

MODEL is a folder written by `longmatch train colde`; A, B, C are files. Writes OUT.html and OUT.png.
"""

from argparse import ArgumentParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from longmatch.documents import read
from longmatch.lab.papers.colde.matcher import ColdeMatcher, Levels, Panel, three_levels, write_grids
from longmatch.matching.match import Grid

LABEL = 40  # characters of a label in the picture


def main() -> None:
    """Write both files."""
    parser = ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("documents", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("colde-levels"))
    options = parser.parse_args()
    matcher = ColdeMatcher.load(options.model)
    threshold = matcher.threshold
    note = "" if threshold is None else f" Documents match from {threshold:.2f} on, by the validation pairs."
    levels = three_levels(matcher.encode([read(path) for path in options.documents]))
    panels = [
        Panel("Documents", f"Cosine of document vectors.{note}", levels.documents),
        Panel("Sections", "Cosine of section vectors, within and across the documents.", levels.sections),
        Panel("Chunks", "Cosine of chunk vectors with what attention adds to each.", levels.chunks),
        Panel("Attention", "Attention of each chunk (row) to each chunk of the next section.", levels.attention),
    ]
    print(write_grids(options.out.with_suffix(".html"), "CoLDE: three levels of explanation", panels))
    print(_draw(levels, options.out.with_suffix(".png")))
    rows = levels.attention.scores[levels.attention.scores.sum(1) > 0]  # of the chunks that attend to any
    peak = float((rows.max(1) * (rows > 0).sum(1) / rows.sum(1)).mean())
    print(f"The highest attention weight of a chunk: {peak:.2f} times an equal share, on average.")


def _draw(levels: Levels, path: Path) -> Path:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(17, 13))
    axes = figure.subplots(2, 2, gridspec_kw={"height_ratios": (2, 3)})  # many chunks, few sections
    figure.subplots_adjust(wspace=0.55, hspace=0.12)
    _panel(axes[0, 0], levels.documents, "(a) Documents")
    _panel(axes[0, 1], levels.sections, "(b) Sections")
    _panel(axes[1, 0], levels.chunks, "(c) Chunks")
    _panel(axes[1, 1], levels.attention, "(d) Attention to the next section")
    figure.savefig(path, dpi=100, bbox_inches="tight")
    return path


def _panel(axes: Any, grid: Grid, title: str) -> None:
    """Draw one matrix; lines separate the documents, the diagonal is blank."""
    scores = np.array(grid.scores, dtype=np.float64)
    np.fill_diagonal(scores, np.nan)
    drawn = axes.imshow(scores, cmap="Blues", vmin=np.nanmin(scores), vmax=np.nanmax(scores))
    owners = [label[0] for label in grid.rows]
    for place, (owner, following) in enumerate(pairwise(owners)):
        if owner != following:
            axes.axhline(place + 0.5, color="black", linewidth=1)
            axes.axvline(place + 0.5, color="black", linewidth=1)
    few = len(owners) <= 12
    size = 9 if few else 6
    places = [f"{owner}{owners[:at].count(owner) + 1}" for at, owner in enumerate(owners)]
    axes.set_xticks(range(len(owners)), owners if len(set(owners)) == len(owners) else places, fontsize=size)
    axes.tick_params("x", rotation=0 if few else 90)
    labels = [label if len(label) <= LABEL else f"{label[: LABEL - 1]}…" for label in grid.rows]
    axes.set_yticks(range(len(owners)), labels, fontsize=size)
    axes.set_title(title, fontsize=11)
    axes.figure.colorbar(drawn, ax=axes, fraction=0.046)
    if few:
        middle = (np.nanmin(scores) + np.nanmax(scores)) / 2
        for (row, column), score in np.ndenumerate(scores):
            if row != column:
                colour = "white" if score > middle else "black"
                axes.text(column, row, f"{score:.2f}", ha="center", va="center", fontsize=size, color=colour)


if __name__ == "__main__":
    main()
