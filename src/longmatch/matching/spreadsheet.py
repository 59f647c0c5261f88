"""Tables for spreadsheets, which take a cell that begins with certain signs for a formula and run it."""

import csv
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

_FORMULA_SIGNS = frozenset("=+-@")  # and those that are shown in another width
_SEPARATORS = ("\t", "\r")


def write_csv(file: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a line per row to an open file, under a line of column names; no cell can be run as a formula."""
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: safe_cell(row.get(name)) for name in columns} for row in rows)


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would run gets an apostrophe before it; numbers stay as they are.

    >>> safe_cell("=HYPERLINK(1)"), safe_cell(" @x"), safe_cell("a = b"), safe_cell(-0.5)
    ("'=HYPERLINK(1)", "' @x", 'a = b', -0.5)
    """
    if not isinstance(value, str):
        return value
    first = next((c for c in value if c.isprintable() and not c.isspace()), "")  # the others may be passed over
    is_formula = unicodedata.normalize("NFKC", first) in _FORMULA_SIGNS
    return f"'{value}" if is_formula or value.lstrip(" \n").startswith(_SEPARATORS) else value
