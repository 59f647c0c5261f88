"""Tables as text: one line per row."""

from collections.abc import Iterable


def table_text(rows: Iterable[Iterable[str]]) -> str:
    r"""Cells on one line, separated by bars; rows without any text are left out.

    >>> table_text([["month", "delay"], ["", ""], ["May", "7\nmin"]])
    'month | delay\nMay | 7 min'
    """
    lines = (" | ".join(" ".join(cell.split()) for cell in row) for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))
