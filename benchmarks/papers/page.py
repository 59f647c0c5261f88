"""Write docs/benchmarks.md and docs/results from the stored results.

    python -m benchmarks.papers.page [FOLDER ...] [--drop 'legal/cross epochs=3*'] [--to docs]

Runs from FOLDERs written by `longmatch evaluate` are first merged into benchmarks/results, where they replace older
runs of the same row; the pages are written from there alone. about.json.xz there has the commands, machines,
commits and weights behind the rows. Nothing on the pages is written by hand. Run it in the repository's root.
"""

import argparse
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path

from benchmarks.papers.row_names import FAMILIES, UNTRAINED, StoredName, label_of
from benchmarks.papers.set_page import (
    PAIRS,
    RANKING,
    cell,
    head,
    line,
    measures_of,
    percent,
    standing,
    what_it_holds,
    write_set_page,
)
from benchmarks.papers.stored_results import RESULTS, ResultGroup, StoredResults, StoredRow
from longmatch.lab.datasets.near_pairs import NEAR
from longmatch.lab.evaluation.corpus import SHUFFLED

FIRST = {name: number for number, name in enumerate(FAMILIES)}
DEFAULT, TFIDF = label_of("default"), label_of("tfidf")
RAW = "backbone=raw-lm"
METHOD = """\
- Sets are split so that no test document occurs in a labelled training pair. Thresholds are chosen on validation pairs.
- Ranking: all documents of a set except the query, or the query's pool. Models that read two documents together rerank
  BM25's best 40. Pairs: do these two documents belong together?
- All values are percent. **Bold** is the best of a column; x±y is the mean and standard deviation over seeds.
- `+` and `-`: significantly better and worse than TF-IDF. `*`: better than the best other row. `^`: a trained row
  better than the best untrained row. p < 0.05 by a randomisation test over queries, for pairs by a paired bootstrap
  over source documents, not corrected for the number of rows. A cell without a mark is not significantly different, or
  could not be tested because an older run is not stored (the set's page says which).
- Of each paper and baseline the tables have the best row of the set, chosen on the test split: this flatters models
  with many rows. Ablations and other readouts of a model are on the sets' pages alone. The default and the lexical rows
  have one each. [Evaluation](evaluation.md) explains measures and tests, and how to reproduce a row.
- The default's row on papers is that of version 0.1; with the weights of 0.2 nDCG@10 is the same (`longmatch train
  default --step report`), F1 was not measured.
"""
COST = """\
Wall-clock time of the rows above, on machines that were often shared: factors below three mean little. Models that read
two documents together encode nothing in advance. [Scale](scale.md) has what a library costs on an ordinary computer.
"""
COST_SETS = ("acl", "legal")


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


def write_overview(stored: StoredResults) -> str:
    """The whole page."""
    groups = list(stored.groups.values())
    ranking, pairs = (FamilyTable.of(groups, kind) for kind in (RANKING, PAIRS))
    lines = ["# Benchmarks", "", "Written by `python -m benchmarks.papers.page` from `benchmarks/results`.", ""]
    found = takeaways(ranking, pairs, groups)
    lines += ["## Takeaways", "", *(f"{n}. {sentence}" for n, sentence in enumerate(found, 1)), ""] if found else []
    lines += ["## Method", "", METHOD, "## Sets", ""]
    lines += head(["set", "what it holds", "documents", "queries", "pairs", "rows"], left=2)
    for group in groups:
        sizes = [f"{group.rows[0][key]:,}" for key in ("documents", "queries", "pairs")]
        name = f"[{group.label}](results/{page_name(group)})"
        lines.append(line([name, what_it_holds(group.data), *sizes, str(len(group.rows))]))
    lines.append("")
    for title, table in (("Ranking", ranking), ("Pairs", pairs)):
        if table.sets:
            lines += [f"## {title}: {table.measure}", "", *table.lines()]
    sets = [data for data in COST_SETS if data in ranking.sets]
    if sets:
        cells = [f"{data}: {what}" for data in sets for what in ("encode, ms a document", "score all queries, s")]
        lines += ["## Cost", "", COST, *head(["model", *cells])]
        for family, rows in ranking.rows.items():
            if any(data in rows for data in sets):
                lines.append(line([family, *(cell for data in sets for cell in _times(rows.get(data)))]))
    return "\n".join(lines).rstrip() + "\n"


def page_name(group: ResultGroup) -> str:
    """The file of a set's page.

    >>> page_name(ResultGroup("acl", "test")), page_name(ResultGroup("acl", "validation"))
    ('acl.md', 'acl.validation.md')
    """
    return f"{group.data if group.split == 'test' and group.limit is None else group.name}.md"


def _times(row: StoredRow | None) -> list[str]:
    """Encoding and scoring time."""
    if row is None:
        return ["", ""]
    scoring = row.get("seconds_scoring")
    encoding = "" if "rerank_depth" in row else f"{1000 * row['seconds_per_document']:.1f}"
    return [f"{encoding} ({row['device']})" if encoding else "", "" if scoring is None else f"{scoring:.1f}"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Merge new runs, and write the pages."""
    parser = argparse.ArgumentParser(description="Write docs/benchmarks.md and docs/results from the stored results.")
    parser.add_argument("folders", nargs="*", type=Path, help="folders written by longmatch evaluate, to be merged")
    parser.add_argument("--drop", nargs="+", default=[], help="SET/MODEL patterns of rows that were measured wrongly")
    parser.add_argument("--recompute", action="store_true", help="compute all rows, as after a change of the tests")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of stored results")
    parser.add_argument("--to", type=Path, default=Path("docs"), help="the folder of the pages")
    options = parser.parse_args(arguments)
    merges = bool(options.folders or options.drop or options.recompute)
    stored = StoredResults.load(options.results, with_answers=merges)
    if merges:
        stored.merge(*options.folders, drop=options.drop, recompute=options.recompute)
        stored.save(options.results)
    pages = write_pages(stored)
    (options.to / "results").mkdir(parents=True, exist_ok=True)
    for path in (options.to / "results").glob("*.md"):
        if f"results/{path.name}" not in pages:
            path.unlink()
    for name, text in pages.items():
        (options.to / name).write_text(text, encoding="utf-8")
    print(f"Written: {options.to / 'benchmarks.md'} and {len(pages) - 1} pages in {options.to / 'results'}")


def write_pages(stored: StoredResults) -> dict[str, str]:
    """All pages by their paths below docs."""
    sets = {f"results/{page_name(group)}": write_set_page(group) for group in stored.groups.values()}
    return {"benchmarks.md": write_overview(stored), **sets}


if __name__ == "__main__":
    main()
