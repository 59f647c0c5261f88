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
                left_out = row.get("study") or name.studied or name.is_ablation or another_backbone
                if measure in row["measures"] and not left_out:
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


def differences(table: FamilyTable, family: str, other: str) -> dict[str, float]:
    """By how much a family is above another, on the sets that have both."""
    found = {data: (table.value(family, data), table.value(other, data)) for data in table.sets}
    return {data: a - b for data, (a, b) in found.items() if a is not None and b is not None}


def takeaways(ranking: FamilyTable, pairs: FamilyTable, groups: Iterable[ResultGroup]) -> list[str]:
    """Each sentence holds for the numbers it is given; one without numbers is left out."""
    sentences = []
    gains = differences(ranking, DEFAULT, TFIDF)
    if gains:
        above, best = [d for d in gains if gains[d] > 0], [d for d in gains if ranking.best(d) == DEFAULT]
        sentences.append(
            f"**The default ranks better than TF-IDF on {_of(above, gains)} sets** ({_range(gains.values())} points of "
            f"{ranking.measure}), and better than every other row on {_of(best, gains)}."
        )
    sets = [data for data in pairs.sets if pairs.value(DEFAULT, data) is not None]
    if sets:
        lost = [data for data in sets if pairs.best(data) != DEFAULT]
        won = f"{_of(sets[len(lost) :], sets)} sets.**"
        better = []
        for data in lost:
            best_family = pairs.best(data)
            theirs, ours = (percent(pairs.value(family, data) or 0.0) for family in (best_family, DEFAULT))
            better.append(f"{best_family} on {data} ({theirs}, the default {ours})")
        elsewhere = f" Better elsewhere: {'; '.join(better)}." if better else ""
        sentences.append(f"**On labelled pairs the default has the best {pairs.measure} on {won}{elsewhere}")
    counts = []
    for table in (pairs, ranking):
        gained = []  # by how much each trained family's best row of a set is above TF-IDF
        for rows in table.rows.values():
            for data, row in rows.items():
                tfidf = table.value(TFIDF, data)
                if row.get("seeds") and tfidf is not None:
                    gained.append(row["measures"][table.measure] - tfidf)
        counts.append(([gain for gain in gained if gain > 0], gained))
    if all(gained for _, gained in counts):
        sentences.append(
            f"**Of the trained models {_of(*counts[0])} beat TF-IDF on pairs, and {_of(*counts[1])} in ranking,** "
            "counting the best row of each model on each set."
        )
    gains = differences(ranking, UNTRAINED, TFIDF)
    if gains:
        below = [data for data in gains if gains[data] < 0]
        sentences.append(
            f"**Untrained sentence vectors alone rank below TF-IDF on {_of(below, gains)} sets** "
            f"({_range(gains.values())} points of {ranking.measure}), by the best rule on each."
        )
    starts = []  # by how much a row from a sentence encoder is above the same training from a plain language model
    for group in groups:
        values = {row["model"]: row["measures"].get(ranking.measure) for row in group.rows if row.get("seeds")}
        for model, raw in values.items():
            other = values.get(" ".join(word for word in model.split() if word != RAW))
            if RAW in model.split() and raw is not None and other is not None:
                starts.append(other - raw)
    if starts:
        better_starts = [gain for gain in starts if gain > 0]
        sentences.append(
            f"**The same training from MiniLM ends higher than from raw-lm in {_of(better_starts, starts)} "
            f"comparisons** ({_range(starts)} points of {ranking.measure}); raw-lm is a plain language model of "
            "MiniLM's shape."
        )
    return sentences


def _of(some: Sized, all_of: Sized) -> str:
    total = len(all_of)
    return f"all {total}" if len(some) == total else f"{len(some)} of {total}"


def _range(values: Iterable[float]) -> str:
    found = sorted(values)
    return f"{100 * found[0]:+.1f} to {100 * found[-1]:+.1f}"
