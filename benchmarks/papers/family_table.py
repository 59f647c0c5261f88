"""The best row of every paper and baseline on every set."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.papers.row_names import FAMILIES, StoredName
from benchmarks.papers.stored_results import ResultGroup, StoredRow
from benchmarks.papers.table_cells import cell, head, line, measures_of, percent, standing
from longmatch.lab.datasets.near_pairs import NEAR
from longmatch.lab.evaluation.corpus import SHUFFLED

FIRST = {name: number for number, name in enumerate(FAMILIES)}


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
