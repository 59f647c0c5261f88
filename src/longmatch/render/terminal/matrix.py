"""The section matrix in the terminal: a shade and a number for each cell, a dot for none, as many sections as fit."""

from bisect import bisect_right
from collections.abc import Sequence, Set

import numpy as np
from rich.console import Console
from rich.text import Text

from longmatch.documents.document import Document, Span
from longmatch.render.matrix import SHADES, Matrix
from longmatch.render.terminal.printable import printable

CELL = 5  # characters of a cell
MOST_ROWS = 24
LEAST_LABEL, MOST_LABEL = 16, 44  # characters of a row's label
_LIGHT, _DARK = (238, 238, 234), (18, 63, 104)  # the ends of the scale, the same hue as on the page


def print_matrix(matrix: Matrix, console: Console, gone: Set[int] = frozenset(), new: Set[int] = frozenset()) -> None:
    """Print the matrix; of a large one the rows and columns with the strongest cells, in the documents' order.

    Of two versions, the sections of the first that are gone and those that are new are never left out: by their places.
    """
    if not matrix.scores.size:
        console.print(Text("There are no sections to compare.", "dim"))
        return
    room = max(1, (console.width - LEAST_LABEL - 6) // CELL)
    rows, columns = _shown(matrix, room, gone, new)
    for first in range(0, len(columns), room):  # where more are new than fit side by side, one part below the other
        _print_part(matrix, rows, columns[first : first + room], console)
    _print_key(matrix, rows, columns, "" if gone or new else ", weaker than those shown", console)


def _print_part(matrix: Matrix, rows: list[int], columns: list[int], console: Console) -> None:
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


def _shown(matrix: Matrix, room: int, gone: Set[int], new: Set[int]) -> tuple[list[int], list[int]]:
    """The rows and columns to show: those of sections that are gone or new, and those with the strongest cells."""
    scores = matrix.scores.copy()
    if matrix.within:
        np.fill_diagonal(scores, 0.0)
    sides = ((1, matrix.a, matrix.grid.row_spans, gone, MOST_ROWS), (0, matrix.b, matrix.grid.column_spans, new, room))
    rows, columns = (
        _strongest(np.where(_begin_at(spans, document, places), np.inf, scores.max(axis=axis)), max(most, len(places)))
        for axis, document, spans, places, most in sides
    )
    return rows, columns


def _begin_at(spans: Sequence[Span], document: Document, places: Set[int]) -> list[bool]:
    """Whether the section of each span begins at one of some places."""
    starts = [section.start for section in document.sections]
    return [starts[bisect_right(starts, span.start) - 1] in places for span in spans]


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


def _print_key(matrix: Matrix, rows: list[int], columns: list[int], how: str, console: Console) -> None:
    left_out = [
        f"{total - len(shown)} of {total} {name}"
        for name, total, shown in (("rows", len(matrix.rows), rows), ("columns", len(matrix.columns), columns))
        if total > len(shown)
    ]
    if left_out:
        console.print(Text(f"Left out{how}: {' and '.join(left_out)}.", "dim"))
    if matrix.within and columns == rows:
        return
    side = "" if matrix.within else "B"
    width = len(f"{side}{columns[-1] + 1}")
    console.print()
    for column in columns:
        line = Text.assemble((f"{side}{column + 1}".rjust(width), "dim"), " ", printable(matrix.columns[column]))
        line.truncate(console.width, overflow="ellipsis")
        console.print(line)
