"""Tables as text, one line per row, and back."""

import re
from collections.abc import Iterable

_MARKDOWN_RULE = re.compile(r"\|(?=[\s|:]*+-)[\s|:-]*\||(?=[|:]*+-)[|:-]*+")  # below the head of a table
_MARKDOWN_BAR = re.compile(r"(?<!\\)\|")
_BAR = re.compile(r"(?:^|(?<=\s))\|(?=\s|$)")
_WIDE_GAP = re.compile(r"\t|\s{3,}")  # between the columns of a printed table


def table_text(rows: Iterable[Iterable[str]]) -> str:
    r"""Cells on one line, separated by bars; rows without any text are left out.

    >>> table_text([["month", "delay"], ["", ""], ["May", "7\nmin"]])
    'month | delay\nMay | 7 min'
    """
    lines = (" | ".join(" ".join(cell.split()) for cell in row) for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))


def table_cells(text: str) -> list[list[str]]:
    r"""The cells of a table that any reader wrote as text, by row, without empty ones at the end.

    >>> table_cells("month | delay\nMay |  | 7 min"), table_cells("| delay\nMay | 7")
    ([['month', 'delay'], ['May', '', '7 min']], [['', 'delay'], ['May', '7']])
    >>> table_cells("| month | delay |\n|---|---:|\n| May | 7 |"), table_cells("month   delay\nMay   7 min")
    ([['month', 'delay'], ['May', '7']], [['month', 'delay'], ['May', '7 min']])
    """
    lines = [line.strip() for line in text.split("\n")]
    if len(lines) > 1 and "|" in lines[0] and _MARKDOWN_RULE.fullmatch(lines[1]):
        bodies = (line.removeprefix("|").removesuffix("|") for line in (lines[0], *lines[2:]))
        rows = [_MARKDOWN_BAR.split(body) for body in bodies]
    else:
        bar = _BAR if any(map(_BAR.search, lines)) else _WIDE_GAP
        rows = [bar.split(line) for line in lines]
    return [_without_empty_end([" ".join(cell.split()) for cell in row]) for row in rows]


def _without_empty_end(row: list[str]) -> list[str]:
    filled = max((n for n, cell in enumerate(row, 1) if cell), default=0)
    return row[:filled]
