"""Write docs/benchmarks.md from the results of `longmatch evaluate`.

    python scripts/write_benchmarks.py out/evaluation [more folders or results.json files] [--to docs/benchmarks.md]

Each folder holds results.json, and about.json with the commands, the machine and the commit. A row that is in several
of them is taken from the last.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longmatch.evaluation.reports.about import commit

RULES = """\
All values are in percent. **Bold** is the best of a column; + and - are significantly better and worse than tfidf, \\*
is significantly better than the best other row (p < 0.05: randomisation test over queries, for pairs a paired bootstrap
over source documents; not corrected for the number of rows). Intervals are 95 % by bootstrap. Equal scores are ordered
by document id, the later id first, as trec_eval does. A document a model cannot handle ranks last and is counted; a
query it cannot handle scores 0. Encoding time does not count reading the files.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read, and write the page."""
    parser = argparse.ArgumentParser(description="Write docs/benchmarks.md from the results of longmatch evaluate.")
    parser.add_argument("results", nargs="+", type=Path, help="folders with results.json, or such files")
    parser.add_argument("--to", type=Path, default=Path(__file__).parents[1] / "docs" / "benchmarks.md")
    given = parser.parse_args(arguments)
    files = [path / "results.json" if path.is_dir() else path for path in given.results]
    page = write_page(files)
    given.to.parent.mkdir(parents=True, exist_ok=True)
    given.to.write_text(page, encoding="utf-8")
    print(f"Written: {given.to}")


def write_page(files: Sequence[Path]) -> str:
    """The whole page."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for file in files:
        for row in json.loads(file.read_text(encoding="utf-8")):
            rows[row["data"], row["split"], row["queries"], row["model"]] = row
    parts = ["# Benchmarks", "", "Written by `python scripts/write_benchmarks.py`. The commands that measured:", ""]
    for about in _abouts(files):
        parts += ["```", *about["commands"], "```", ""]
        parts += [f"on {about['machine']}, commit {about['commit'] or commit()}.", ""]
    parts += [RULES, *_summary(list(rows.values()))]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows.values():
        groups.setdefault((row["data"], row["split"], row["queries"]), []).append(row)
    for group in groups.values():
        parts += [*_table(group), *_fidelity(group)]
    return "\n".join(parts).rstrip() + "\n"


def _abouts(files: Sequence[Path]) -> list[dict[str, Any]]:
    paths = dict.fromkeys(file.parent / "about.json" for file in files)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()]


def _summary(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The first measure of every model on every set, and the mean over the ranked sets."""
    sets = list(dict.fromkeys(row["data"] for row in rows))
    models = list(dict.fromkeys(row["model"] for row in rows))
    first = {(row["data"], row["model"]): next(iter(row["measures"].items())) for row in rows if row["measures"]}
    named = {data: next((first[data, m][0] for m in models if (data, m) in first), "") for data in sets}
    ranked = [data for data in sets if named[data].startswith("nDCG")]
    lines = ["## All sets", "", _line(["model", *(f"{d} {named[d]}" for d in sets), "mean of the ranked sets"])]
    lines.append(_line(["---"] + ["---:"] * (len(sets) + 1)))

    def value(data: str, model: str) -> float | None:
        return first[data, model][1] if (data, model) in first else None

    for model in sorted(models, key=lambda m: -sum(value(d, m) or 0.0 for d in sets)):
        found = [value(data, model) for data in sets]
        best = [max(x for m in models if (x := value(data, m)) is not None) for data in sets]
        cells = ["" if x is None else _percent(x, x == top) for x, top in zip(found, best, strict=True)]
        every = [value(data, model) for data in ranked]
        mean = f"{100 * sum(x for x in every if x is not None) / len(every):.1f}" if every and None not in every else ""
        lines.append(_line([model, *cells, mean]))
    return [*lines, ""]


def _table(rows: Sequence[dict[str, Any]]) -> list[str]:
    """One set: every measure, with the interval of the first."""
    measures = list(dict.fromkeys(name for row in rows for name in row["measures"]))
    one = rows[0]
    asked = f"{one['queries']} queries" + (f", {one['pairs']} pairs" if one["pairs"] else "")
    lines = [
        f"## {one['data']}",
        "",
        f"Split {one['split']}: {asked}, {one['documents']} documents, seed {one['seed']}.",
        "",
    ]
    lines.append(_line(["model", *measures, f"95 % of {measures[0]}", "ms a document", "unhandled", "device"]))
    lines.append(_line(["---"] + ["---:"] * (len(measures) + 3) + ["---"]))
    best = {name: max(row["measures"].get(name, -1.0) for row in rows) for name in measures}
    for row in sorted(rows, key=lambda r: -r["measures"].get(measures[0], -1.0)):
        cells = [_cell(row, name, best[name]) for name in measures]
        low, high = row["intervals"].get(measures[0], (0.0, 0.0))
        extra = [f"{100 * low:.1f} to {100 * high:.1f}", f"{1000 * row['seconds_per_document']:.1f}"]
        lines.append(_line([row["model"], *cells, *extra, str(row["unhandled"]), row["device"]]))
    return [*lines, ""]


def _fidelity(rows: Sequence[dict[str, Any]]) -> list[str]:
    """How true the explanations are, where that was measured."""
    measured = [row for row in rows if row.get("fidelity")]
    if not measured:
        return []
    share = measured[0]["fidelity"]["share"]
    lines = [
        f"Explanations: the score lost by deleting the {share:.0%} of sentences named first, and as many at random;",
        "and the score that those sentences have alone.",
        "",
        _line(["model", "pairs", "score", "named deleted", "random deleted", "ratio", "named alone", "random alone"]),
        _line(["---"] + ["---:"] * 7),
    ]
    for row in measured:
        f = row["fidelity"]
        ratio = f["deletion"]["ratio"]
        values = [f["score"], f["deletion"]["named"], f["deletion"]["random"]]
        alone = [f["insertion"]["named"], f["insertion"]["random"]]
        shown = [*map(_percent, values), "" if ratio is None else f"{ratio:.1f}", *map(_percent, alone)]
        lines.append(_line([row["model"], str(f["pairs"]), *shown]))
    return [*lines, ""]


def _cell(row: dict[str, Any], name: str, best: float) -> str:
    if name not in row["measures"]:
        return ""
    value, marks = row["measures"][name], ""
    against, other = row["against_tfidf"].get(name), row["against_best_other"].get(name)
    if against and against["p"] < 0.05:
        marks += "+" if against["difference"] > 0 else "-"
    if other and other["p"] < 0.05 and other["difference"] > 0:
        marks += "\\*"
    return _percent(value, value == best) + marks


def _percent(value: float, bold: bool = False) -> str:
    text = f"{100 * value:.1f}"
    return f"**{text}**" if bold else text


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
