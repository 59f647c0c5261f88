"""Cells and lines of the tables of stored results."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.papers.stored_results import StoredRow
from longmatch.lab.evaluation.measures import PAIR_DEFAULTS, RANKING_DEFAULTS, RankingMeasure, parse

ORDER = {name: number for number, name in enumerate((*RANKING_DEFAULTS, *PAIR_DEFAULTS))}  # of the columns
SAME = {f"recall@{cutoff}": f"HR@{cutoff}" for cutoff in (5, 10, 20, 50, 100)}  # equal by definition: shown once
RANKING, PAIRS = True, False
KINDS = {RANKING: "Ranking", PAIRS: "Pairs"}


def measures_of(rows: Sequence[StoredRow], ranking: bool) -> list[str]:
    """The measures of a protocol that rows have, each value once."""
    names = dict.fromkeys(name for row in rows for name in row["measures"])
    kept = [
        name for name in names if isinstance(parse(name), RankingMeasure) == ranking and SAME.get(name) not in names
    ]
    return sorted(kept, key=lambda name: ORDER.get(name, len(ORDER)))


def standing(row: StoredRow, name: str) -> tuple[float, int]:
    """The sort key of rows: the value and, where only its first digits are known, its recorded place."""
    return row["measures"].get(name, -1.0), -row.get("places", {}).get(name, 0)


def cell(row: StoredRow | None, name: str, best: tuple[float, int]) -> str:
    """A measure with its deviation and marks, bold if it is the best; empty where it was not measured."""
    if row is None or name not in row["measures"]:
        return ""
    deviation = row.get("deviations", {}).get(name)
    text = percent(row["measures"][name]) + ("" if deviation is None else f"±{100 * deviation:.1f}")
    return (f"**{text}**" if standing(row, name) == best else text) + marks(row, name)


def marks(row: StoredRow, name: str) -> str:
    """The marks of significance: + or - against tfidf, ^ and * against the best untrained and the best other row."""
    if "marks" in row:
        return str(row["marks"].get(name, "")).replace("*", "\\*")
    found = ""
    against = row["against_tfidf"].get(name)
    if against and against["p"] < 0.05:
        found += "+" if against["difference"] > 0 else "-"
    for key, mark in (("against_best_untrained", "^"), ("against_best_other", "\\*")):
        other = row.get(key, {}).get(name)
        if other and other["p"] < 0.05 and other["difference"] > 0:
            found += mark
    return found


def change(comparison: Mapping[str, Any] | None) -> str:
    """A difference with its p value."""
    return "" if not comparison else f"{100 * comparison['difference']:+.1f} (p = {comparison['p']:.4f})"


def percent(value: float) -> str:
    """A share with one digit.

    >>> percent(0.4256)
    '42.6'
    """
    return f"{100 * value:.1f}"


def line(cells: Sequence[str]) -> str:
    """A line of a table."""
    return "| " + " | ".join(cells) + " |"


def head(cells: Sequence[str], left: int = 1) -> list[str]:
    """The first two lines of a table, whose first columns are text and the others numbers."""
    return [line(cells), line(["---"] * left + ["---:"] * (len(cells) - left))]
