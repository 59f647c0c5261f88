"""The section matrix in the terminal: a shade and a number for each cell, a dot for none, as many sections as fit."""

import numpy as np
from rich.console import Console
from rich.text import Text

from longmatch.matching.render.matrix import SHADES, Matrix
from longmatch.matching.render.terminal.printable import printable

CELL = 5  # characters of a cell
MOST_ROWS = 24
LEAST_LABEL, MOST_LABEL = 16, 44  # characters of a row's label
_LIGHT, _DARK = (238, 238, 234), (18, 63, 104)  # the ends of the scale, the same hue as on the page


def print_matrix(matrix: Matrix, console: Console) -> None:
    """Print the matrix; of a large one the rows and columns with the strongest cells, in the documents' order."""
    if not matrix.scores.size:
        console.print(Text("There are no sections to compare.", "dim"))
        return
    rows, columns = _fitting(matrix, console.width)
    a, b = ("", "") if matrix.within else ("A", "B")
    digits = max(len(f"{b}{columns[-1] + 1}"), 2)
    width = console.width - CELL * len(columns) - len(f"{a}{rows[-1] + 1} ") - 1
    number_width = len(f"{a}{rows[-1] + 1}")
    label_width = min(max(len(matrix.rows[row]) for row in rows), width, MOST_LABEL)
    heads = "".join(f"{b}{column + 1}".rjust(digits).center(CELL) for column in columns)
    console.print(Text(f"{'':{number_width + label_width + 2}}{heads.rstrip()}", "dim"))
    for row in rows:
        line = Text(no_wrap=True, overflow="crop")
        line.append(f"{a}{row + 1}".rjust(number_width) + " ", "dim")
        name = Text(printable(matrix.rows[row]))
        name.truncate(label_width, overflow="ellipsis", pad=True)
        line.append_text(name)
        line.append(" ")
        for column in columns:
            line.append_text(_cell(matrix, row, column))
        console.print(line)
    _print_key(matrix, rows, columns, console)


def _fitting(matrix: Matrix, width: int) -> tuple[list[int], list[int]]:
    """The rows and columns to show: those with the strongest cells, in order."""
    scores = matrix.scores.copy()
    if matrix.within:
        np.fill_diagonal(scores, 0.0)
    room = max(1, (width - LEAST_LABEL - 6) // CELL)
    return _strongest(scores.max(axis=1), MOST_ROWS), _strongest(scores.max(axis=0), room)


def _strongest(best: np.ndarray, most: int) -> list[int]:
    return sorted(np.argsort(-best, kind="stable")[:most].tolist())


def _cell(matrix: Matrix, row: int, column: int) -> Text:
    if matrix.within and row == column:
        return Text("-".center(CELL), "dim")
    score = matrix.scores[row, column]
    share = round(matrix.shares[row, column] * SHADES) / SHADES
    shade = ",".join(str(round(light + (dark - light) * share)) for light, dark in zip(_LIGHT, _DARK, strict=True))
    ink = "rgb(255,255,255)" if share >= 0.5 else "rgb(60,64,72)"
    number = f"{score:.2f}"
    return Text(("·" if number == "0.00" else number).center(CELL), f"{ink} on rgb({shade})")


def _print_key(matrix: Matrix, rows: list[int], columns: list[int], console: Console) -> None:
    left_out = [
        f"{total - len(shown)} of {total} {name}"
        for name, total, shown in (("rows", len(matrix.rows), rows), ("columns", len(matrix.columns), columns))
        if total > len(shown)
    ]
    if left_out:
        console.print(Text(f"Left out, weaker than those shown: {' and '.join(left_out)}.", "dim"))
    if matrix.within and columns == rows:
        return
    side = "" if matrix.within else "B"
    width = len(f"{side}{columns[-1] + 1}")
    console.print()
    for column in columns:
        line = Text.assemble((f"{side}{column + 1}".rjust(width), "dim"), " ", printable(matrix.columns[column]))
        line.truncate(console.width, overflow="ellipsis")
        console.print(line)
