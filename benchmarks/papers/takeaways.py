"""What the stored results say in five sentences, worked out from them."""

from collections.abc import Iterable, Sized

from benchmarks.papers.family_table import FamilyTable
from benchmarks.papers.row_names import UNTRAINED, label_of
from benchmarks.papers.stored_results import ResultGroup
from benchmarks.papers.table_cells import percent

DEFAULT, TFIDF = label_of("default"), label_of("tfidf")
RAW = "backbone=raw-lm"


def takeaways(ranking: FamilyTable, pairs: FamilyTable, groups: Iterable[ResultGroup]) -> list[str]:
    """Each sentence holds for the numbers it is given; one without numbers is left out."""
    sentences = [_default_ranks(ranking), _default_pairs(pairs), _training(ranking, pairs), _vectors(ranking)]
    return [sentence for sentence in [*sentences, _start(groups, ranking.measure)] if sentence]


def differences(table: FamilyTable, family: str, other: str) -> dict[str, float]:
    """By how much a family is above another, on the sets that have both."""
    found = {data: (table.value(family, data), table.value(other, data)) for data in table.sets}
    return {data: a - b for data, (a, b) in found.items() if a is not None and b is not None}


def _default_ranks(table: FamilyTable) -> str:
    gains = differences(table, DEFAULT, TFIDF)
    if not gains:
        return ""
    above, best = [d for d in gains if gains[d] > 0], [d for d in gains if table.best(d) == DEFAULT]
    return (
        f"**The default ranks better than TF-IDF on {_of(above, gains)} sets** ({_range(gains.values())} points of "
        f"{table.measure}), and better than every other row on {_of(best, gains)}."
    )


def _default_pairs(table: FamilyTable) -> str:
    sets = [data for data in table.sets if table.value(DEFAULT, data) is not None]
    if not sets:
        return ""
    lost = [data for data in sets if table.best(data) != DEFAULT]
    won = (
        f"**On labelled pairs the default has the best {table.measure} on {_of([*set(sets) - set(lost)], sets)} sets.**"
    )
    return won + (f" Better elsewhere: {'; '.join(_winner(table, data) for data in lost)}." if lost else "")


def _winner(table: FamilyTable, data: str) -> str:
    best = table.best(data)
    return f"{best} on {data} ({_shown(table, best, data)}, the default {_shown(table, DEFAULT, data)})"


def _training(ranking: FamilyTable, pairs: FamilyTable) -> str:
    counts = []
    for table in (ranking, pairs):
        trained = {
            (family, data): row
            for family, rows in table.rows.items()
            for data, row in rows.items()
            if row.get("seeds") and table.value(TFIDF, data) is not None
        }
        above = [
            key for key, row in trained.items() if row["measures"][table.measure] > (table.value(TFIDF, key[1]) or 0)
        ]
        counts.append((above, trained))
    if not all(trained for _, trained in counts):
        return ""
    return (
        f"**Of the trained models {_of(*counts[1])} beat TF-IDF on pairs, and {_of(*counts[0])} in ranking,** "
        "counting the best row of each model on each set."
    )


def _vectors(table: FamilyTable) -> str:
    gains = differences(table, UNTRAINED, TFIDF)
    if not gains:
        return ""
    below = [data for data in gains if gains[data] < 0]
    return (
        f"**Untrained sentence vectors alone rank below TF-IDF on {_of(below, gains)} sets** ({_range(gains.values())} "
        f"points of {table.measure}), by the best rule on each."
    )


def _start(groups: Iterable[ResultGroup], measure: str) -> str:
    """The same training from a sentence encoder and from a plain language model."""
    gains = []
    for group in groups:
        values = {row["model"]: row["measures"].get(measure) for row in group.rows if row.get("seeds")}
        for model, raw in values.items():
            other = values.get(" ".join(word for word in model.split() if word != RAW))
            if RAW in model.split() and raw is not None and other is not None:
                gains.append(other - raw)
    if not gains:
        return ""
    better = [gain for gain in gains if gain > 0]
    return (
        f"**The same training from MiniLM ends higher than from raw-lm in {_of(better, gains)} comparisons** "
        f"({_range(gains)} points of {measure}); raw-lm is a plain language model of MiniLM's shape."
    )


def _of(some: Sized, all_of: Sized) -> str:
    total = len(all_of)
    return f"all {total}" if len(some) == total else f"{len(some)} of {total}"


def _range(values: Iterable[float]) -> str:
    found = sorted(values)
    return f"{100 * found[0]:+.1f} to {100 * found[-1]:+.1f}"


def _shown(table: FamilyTable, family: str, data: str) -> str:
    return percent(table.value(family, data) or 0.0)
