"""The best row of every paper and baseline on every set."""

from collections.abc import Iterable, Sized
from dataclasses import dataclass

from benchmarks.papers.row_names import FAMILIES, UNTRAINED, StoredName, label_of
from benchmarks.papers.set_page import cell, head, line, measures_of, percent, standing
from benchmarks.papers.stored_results import ResultGroup, StoredRow
from longmatch.lab.datasets.near_pairs import NEAR
from longmatch.lab.evaluation.corpus import SHUFFLED

FIRST = {name: number for number, name in enumerate(FAMILIES)}
DEFAULT, TFIDF = label_of("default"), label_of("tfidf")
RAW = "backbone=raw-lm"


@dataclass(frozen=True)
class FamilyTable:
    """A protocol's first measure; rows by family, then by set."""

    measure: str
    sets: list[str]
    rows: dict[str, dict[str, StoredRow]]

    @staticmethod
    def of(groups: Iterable[ResultGroup], ranking: bool) -> "FamilyTable":
        """From the test splits. Ablations, rows of studies, near pairs and shuffled documents take no part."""
        used = [g for g in groups if g.split == "test" and g.limit is None and not g.data.endswith((SHUFFLED, NEAR))]
        used = [group for group in used if measures_of(group.rows, ranking)]
        measure = next((measures_of(group.rows, ranking)[0] for group in used), "")
        rows: dict[str, dict[str, StoredRow]] = {}
        for group in used:
            for row in group.rows:
                name = StoredName.parse(row["model"])
                another_backbone = row["model"].startswith("default@")  # the default is the packaged one's
                of_a_study = row.get("study") or name.is_studied
                if of_a_study or name.is_ablation or another_backbone or measure not in row["measures"]:
                    continue
                best = rows.setdefault(name.family, {})
                best[group.data] = max(best.get(group.data, row), row, key=lambda r: standing(r, measure))
        order = sorted(rows, key=lambda family: (FIRST.get(family, len(FIRST)), family))
        return FamilyTable(measure, [group.data for group in used], {family: rows[family] for family in order})

    def value(self, family: str, data: str) -> float | None:
        """The measure of a family's best row; None where there is none."""
        row = self.rows.get(family, {}).get(data)
        return None if row is None else float(row["measures"][self.measure])

    def best(self, data: str) -> str:
        """The family with the best row of a set."""
        return max(
            (f for f in self.rows if data in self.rows[f]), key=lambda f: standing(self.rows[f][data], self.measure)
        )

    def lines(self) -> list[str]:
        """The table in Markdown."""
        best = {data: standing(self.rows[self.best(data)][data], self.measure) for data in self.sets}
        lines = head(["model", *(f"[{data}](results/{data}.md)" for data in self.sets), "mean"])
        for family, rows in self.rows.items():
            values = [self.value(family, data) for data in self.sets]
            known = [value for value in values if value is not None]
            mean = percent(sum(known) / len(known)) if len(known) == len(self.sets) else ""
            cells = [cell(rows.get(data), self.measure, best[data]) for data in self.sets]
            lines.append(line([family, *cells, mean]))
        return [*lines, ""]


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
