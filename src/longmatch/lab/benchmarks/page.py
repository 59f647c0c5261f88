"""Write docs/benchmarks.md from the stored results.

    python -m longmatch.lab.benchmarks.page [FOLDER ...] [--drop 'legal/cross epochs=3*'] [--to docs/benchmarks.md]

Runs from FOLDERs written by `longmatch evaluate` are first merged into benchmarks/results, where they replace older
runs of the same row; the page is written from there alone, with the commands, machines, commits and weights behind the
rows. Nothing on it is written by hand. Run it in the repository's root.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from longmatch.lab.benchmarks.stored_results import RESULTS, StoredResults, StoredRow
from longmatch.lab.datasets.near_pairs import NEAR
from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.lab.evaluation.measures import PAIR_DEFAULTS, RANKING_DEFAULTS, RankingMeasure, parse

RULES = """\
All values are in percent. **Bold** is the best of a column. + and -: significantly better and worse than tfidf; \\*:
significantly better than the best other row; ^: a trained row significantly better than the best untrained row
(p < 0.05: randomisation test over queries, for pairs a paired bootstrap over source documents; not corrected for the
number of rows). x±y is the mean and standard deviation over trainings with different seeds; such a row is tested with
each query's mean over the seeds. Intervals are 95 % by bootstrap over queries. The threshold of pairs is chosen on the
validation pairs. Ties are broken by document id, the later id first, as in trec_eval. A document a model cannot handle
ranks last and is counted; a query it cannot handle scores 0. Encoding time is wall-clock time on a machine that may
have been busy otherwise, without reading the files.

Of some older rows only the numbers are available, not the runs; each set names them. They keep the marks of the tests
made at the time, and newer rows are not tested against them: where such a row is or may be the best other row, a newer
row has no \\*, and where it is or may be the best untrained row, no ^.
"""
REMARKS = {  # on sets whose names end like this
    SHUFFLED: "The sections of every document are in random order.",
    NEAR: "The non-matches are BM25's best documents that do not match, so BM25 stands outside the comparison: it is "
    "below chance by construction, and rows that resemble it (tfidf, phrases) are held back too.",
}
GAINS = ("nDCG@10", "nDCG@20", "MRR", "MPR", "HR@10", "F1", "accuracy")  # measures in the table of what training gained
ORDER = {name: number for number, name in enumerate((*RANKING_DEFAULTS, *PAIR_DEFAULTS))}  # of the columns
KINDS = {True: "Ranking", False: "Pairs"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Merge new runs, and write the page."""
    parser = argparse.ArgumentParser(description="Write docs/benchmarks.md from the stored results.")
    parser.add_argument("folders", nargs="*", type=Path, help="folders written by longmatch evaluate, to be merged")
    parser.add_argument("--drop", nargs="+", default=[], help="SET/MODEL patterns of rows that were measured wrongly")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the folder of stored results")
    parser.add_argument("--to", type=Path, default=Path("docs") / "benchmarks.md")
    options = parser.parse_args(arguments)
    stored = StoredResults.load(options.results)
    for folder in options.folders:
        stored.merge(folder)
    stored.drop(options.drop)
    if options.folders or options.drop:
        stored.save(options.results)
    options.to.parent.mkdir(parents=True, exist_ok=True)
    options.to.write_text(write_page(stored), encoding="utf-8")
    print(f"Written: {options.to}")


def write_page(stored: StoredResults) -> str:
    """The whole page."""
    groups = [group.rows for group in deepcopy(list(stored.groups.values()))]
    for group in groups:
        _shorten(group)
    rows = [row for group in groups for row in group if not row.get("study")]
    parts = [
        "# Benchmarks",
        "",
        "Written by `python -m longmatch.lab.benchmarks.page`; the provenance of every row is at the end.",
        "",
    ]
    parts += [RULES]
    for ranking in KINDS:
        parts += _summary(rows, ranking)
    for group in groups:
        parts += _set(group)
    parts += ["## Provenance", "", *(line for entry in stored.provenance for line in _provenance(entry))]
    return "\n".join(parts).rstrip() + "\n"


def _shorten(rows: Sequence[StoredRow]) -> None:
    """Move the settings shared by all rows of a trained model from their names to a note below the tables."""
    trained: dict[str, list[StoredRow]] = {}
    for row in rows:
        if row.get("seeds") and not row.get("study"):
            trained.setdefault(_trained_model(row["model"]), []).append(row)
    for model, its_rows in trained.items():
        settings = [_settings(row["model"]) for row in its_rows]
        shared = [word for word in settings[0] if all(word in others for others in settings)]
        for row in its_rows:
            row["trained_with"] = f"{model}: {' '.join(shared)}" if shared else ""
            row["model"] = " ".join(word for word in row["model"].split() if word not in shared)


def _trained_model(name: str) -> str:
    """The trained model in a row's name.

    >>> [_trained_model(name) for name in ("colde steps=9", "trained first", "mean on trained sdr pairs=8")]
    ['colde', 'first', 'sdr']
    """
    words = name.split()
    return words[words.index("trained") + 1] if "trained" in words else words[0]


def _settings(name: str) -> list[str]:
    return [word for word in name.split() if "=" in word]


def _provenance(entry: Mapping[str, Any]) -> list[str]:
    """One command: where it ran, from which commit, with which weights, and which rows it made."""
    rows = "; ".join(f"{data}: {', '.join(models)}" for data, models in entry["rows"].items())
    explained = "; ".join(f"{data}: {', '.join(models)}" for data, models in entry.get("explanations", {}).items())
    lines = [f"- rows {rows}"] if rows else []
    lines += [f"- explanations {explained}"] if explained else []
    if not entry["command"]:
        return ["Rows of unrecorded provenance:", "", *lines, ""]
    versions = ", ".join(f"{name} {version}" for name, version in entry["versions"].items())
    source = f"commit {entry['commit']}" if entry["commit"] else f"code {entry['code']}, of no commit here"
    weights = [f"- weights {'; '.join(map(_weights, entry['weights']))}"] if entry["weights"] else []
    return ["```", entry["command"], "```", "", f"- {source}, on {entry['machine']}; {versions}", *weights, *lines, ""]


def _weights(weights: Mapping[str, Any]) -> str:
    rounded = f", rounded to {weights['rounded']}" if weights["rounded"] else ""
    return f"{weights['name']} ({weights['digest']}{rounded}), read in {weights['precision']}"


def _summary(rows: Sequence[StoredRow], ranking: bool) -> list[str]:
    """The first measure of every model on every set, and the mean over the sets."""
    first = {(row["data"], row["model"]): (names[0], row) for row in rows if (names := _names([row], ranking))}
    sets = list(dict.fromkeys(data for data, _ in first if not data.endswith((SHUFFLED, NEAR))))
    models = list(dict.fromkeys(model for data, model in first if data in sets))
    if not sets:
        return []
    measure = {data: next(first[data, m][0] for m in models if (data, m) in first) for data in sets}
    lines = [f"## All sets, {KINDS[ranking].lower()}", ""]
    lines.append(_line(["model", *(f"{data} {measure[data]}" for data in sets), "mean of the sets"]))
    lines.append(_line(["---"] + ["---:"] * (len(sets) + 1)))

    def value(data: str, model: str) -> float | None:
        return first[data, model][1]["measures"].get(measure[data]) if (data, model) in first else None

    def standing(data: str, model: str) -> tuple[float, int]:
        return _standing(first[data, model][1], measure[data]) if (data, model) in first else (-1.0, 0)

    best = {data: max(standing(data, model) for model in models) for data in sets}
    for model in sorted(models, key=_by_mean(sets, value)):
        values = [value(data, model) for data in sets]
        cells = [
            "" if x is None else _number(first[data, model][1], measure[data], standing(data, model) == best[data])
            for x, data in zip(values, sets, strict=True)
        ]
        known = [x for x in values if x is not None]
        mean = f"{100 * sum(known) / len(known):.1f}" if len(known) == len(sets) else ""
        lines.append(_line([model, *cells, mean]))
    return [*lines, ""]


def _by_mean(sets: Sequence[str], value: Callable[[str, str], float | None]) -> Callable[[str], float]:
    return lambda model: -sum(value(data, model) or 0.0 for data in sets)


def _set(rows: Sequence[StoredRow]) -> list[str]:
    """One set: its tables by protocol and study, what training gained, and the explanations."""
    first = rows[0]
    size = f"{first['queries']} queries" + (f", {first['pairs']} pairs" if first["pairs"] else "")
    summary = f"Split {first['split']}: {size}, {first['documents']} documents, seed {first['seed']}."
    remarks = [remark for ending, remark in REMARKS.items() if first["data"].endswith(ending)]
    lines = [f"## {first['data']}", "", " ".join([summary, *remarks]), ""]
    studies = dict.fromkeys(row["study"]["name"] for row in rows if row.get("study"))
    kinds = [ranking for ranking in KINDS if _names(rows, ranking)]
    for ranking in kinds:
        lines += [f"### {KINDS[ranking]}", ""] if len(kinds) > 1 else []
        lines += _table([row for row in rows if not row.get("study")], ranking)
        lines += _gains([row for row in rows if not row.get("study")], ranking) + _shuffled(rows, ranking)
        for name in studies:
            lines += [f"Study of {name}:", ""]
            lines += _table([row for row in rows if row.get("study", {}).get("name") == name], ranking)
    shared = dict.fromkeys(row["trained_with"] for row in rows if row.get("trained_with"))
    lines += [f"Settings shared by all rows of a trained model: {'; '.join(shared)}.", ""] if shared else []
    without_runs = [row["model"] for row in rows if "marks" in row]
    which = "all rows" if len(without_runs) == len(rows) else ", ".join(without_runs)
    lines += [f"Only the numbers are available for {which}.", ""] if without_runs else []
    return lines + _fidelity(rows)


def _table(rows: Sequence[StoredRow], ranking: bool) -> list[str]:
    """Every measure of a protocol, with the interval of the first."""
    measures = _names(rows, ranking)
    if not measures:
        return []
    seeds = ["seeds"] if any(row.get("seeds") for row in rows) else []
    lines = [_line(["model", *measures, f"95 % of {measures[0]}", "ms per document", "unhandled", *seeds, "device"])]
    lines.append(_line(["---"] + ["---:"] * (len(measures) + 3) + ["---"] * (len(seeds) + 1)))
    best = {name: max(_standing(row, name) for row in rows) for name in measures}
    for row in sorted(rows, key=lambda r: _standing(r, measures[0]), reverse=True):
        cells = [_cell(row, name, best[name]) for name in measures]
        low, high = row["intervals"].get(measures[0], (0.0, 0.0))
        extra = [f"{100 * low:.1f} to {100 * high:.1f}", f"{1000 * row['seconds_per_document']:.1f}"]
        trained = [", ".join(map(str, row.get("seeds", ())))] if seeds else []
        lines.append(_line([row["model"], *cells, *extra, str(row["unhandled"]), *trained, row["device"]]))
    return [*lines, ""]


def _gains(rows: Sequence[StoredRow], ranking: bool) -> list[str]:
    """The trained rows compared with tfidf, bm25 and the best untrained row."""
    trained = [row for row in rows if row.get("seeds") and _names([row], ranking)]
    if not trained:
        return []
    lexical = [name for name in ("tfidf", "bm25") if any(row.get(f"against_{name}") for row in trained)]
    baselines = f"{', '.join(lexical)} and " if lexical else ""
    lines = [f"Trained rows compared with {baselines}the best untrained row:", ""]
    lines += [_line(["model", "measure", *lexical, "best untrained", ""])]
    lines += [_line(["---", "---", *["---:"] * len(lexical), "---", "---:"])]
    for row in trained:
        for name in [n for n in _names([row], ranking) if n in GAINS]:
            best = row["against_best_untrained"].get(name)
            gained = [_change(row.get(f"against_{other}", {}).get(name)) for other in lexical]
            lines.append(_line([row["model"], name, *gained, best["model"] if best else "", _change(best)]))
    return [*lines, ""]


def _shuffled(rows: Sequence[StoredRow], ranking: bool) -> list[str]:
    """Each row compared with the same model over sections in their original order."""
    compared = [row for row in rows if row.get("against_unshuffled")]
    measures = [name for name in _names(compared, ranking) if any(name in r["against_unshuffled"] for r in compared)]
    if not measures:
        return []
    lines = ["Compared with the same model over sections in their original order:", ""]
    lines += [_line(["model", *measures]), _line(["---"] + ["---:"] * len(measures))]
    lines += [_line([r["model"], *(_change(r["against_unshuffled"].get(m)) for m in measures)]) for r in compared]
    return [*lines, ""]


def _fidelity(rows: Sequence[StoredRow]) -> list[str]:
    """The fidelity of the explanations, where it was measured."""
    measured = [row for row in rows if row.get("fidelity")]
    if not measured:
        return []
    share = measured[0]["fidelity"]["share"]
    lines = [
        f"Explanations: the score lost by deleting the {share:.0%} of sentences that contribute most, and as many at",
        "random; and the score of those sentences alone.",
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


def _names(rows: Sequence[StoredRow], ranking: bool) -> list[str]:
    """The measures of a protocol that rows have."""
    names = dict.fromkeys(name for row in rows for name in row["measures"])
    names_of_kind = [name for name in names if isinstance(parse(name), RankingMeasure) == ranking]
    return sorted(names_of_kind, key=lambda name: ORDER.get(name, len(ORDER)))


def _standing(row: StoredRow, name: str) -> tuple[float, int]:
    """The sort key of rows: the value and, where only its first digits are known, its recorded place."""
    return row["measures"].get(name, -1.0), -row.get("places", {}).get(name, 0)


def _cell(row: StoredRow, name: str, best: tuple[float, int]) -> str:
    if name not in row["measures"]:
        return ""
    return _number(row, name, _standing(row, name) == best) + _marks(row, name)


def _marks(row: StoredRow, name: str) -> str:
    if "marks" in row:
        return str(row["marks"].get(name, "")).replace("*", "\\*")
    marks = ""
    against = row["against_tfidf"].get(name)
    if against and against["p"] < 0.05:
        marks += "+" if against["difference"] > 0 else "-"
    for key, mark in (("against_best_untrained", "^"), ("against_best_other", "\\*")):
        other = row.get(key, {}).get(name)
        if other and other["p"] < 0.05 and other["difference"] > 0:
            marks += mark
    return marks


def _number(row: StoredRow, name: str, bold: bool) -> str:
    deviation = row.get("deviations", {}).get(name)
    text = _percent(row["measures"][name]) + ("" if deviation is None else f"±{100 * deviation:.1f}")
    return f"**{text}**" if bold else text


def _change(comparison: Mapping[str, Any] | None) -> str:
    return "" if not comparison else f"{100 * comparison['difference']:+.1f} (p = {comparison['p']:.4f})"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
