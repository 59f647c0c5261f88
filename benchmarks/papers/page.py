"""Write docs/benchmarks.md and docs/results from the stored results.

    python -m benchmarks.papers.page [FOLDER ...] [--drop 'legal/cross epochs=3*'] [--to docs]

Runs from FOLDERs written by `longmatch evaluate` are first merged into benchmarks/results, where they replace older
runs of the same row; the pages are written from there alone. about.json.xz there has the commands, machines,
commits and weights behind the rows. Nothing on the pages is written by hand. Run it in the repository's root.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.papers.family_table import FamilyTable, takeaways
from benchmarks.papers.set_page import PAIRS, RANKING, head, line, what_it_holds, write_set_page
from benchmarks.papers.stored_results import RESULTS, ResultGroup, StoredResults, StoredRow

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
