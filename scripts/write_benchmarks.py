"""Write docs/benchmarks.md from what was measured.

    python scripts/write_benchmarks.py [out/rows and other folders of longmatch evaluate] [--to docs/benchmarks.md]
                                       [--drop 'legal/cross epochs=3*']

What the folders hold goes into benchmarks/results first, each row in its last one's place; the page is written from
that alone, with the commands, machines, commits and weights that made the rows: nothing on it is written by hand.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from stored_results import HOME, Row, Stored

from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.lab.evaluation.measures import PAIR_DEFAULTS, RANKING_DEFAULTS, RankingMeasure, parse

RULES = """\
All values are in percent. **Bold** is the best of a column; + and - are significantly better and worse than tfidf, \\*
is significantly better than the best other row, ^ is a trained row significantly better than the best row that was not
trained (p < 0.05: randomisation test over queries, for pairs a paired bootstrap over source documents; not corrected
for the number of rows). x±y is the mean and standard deviation over several trainings with different seeds; such a row
is tested with each query's mean over the seeds. Intervals are 95 % by bootstrap over queries. The threshold of pairs is
chosen on the validation pairs. Equal scores are ordered by document id, the later id first, as trec_eval does. A
document a model cannot handle ranks last and is counted; a query it cannot handle scores 0. Encoding time is what
passed, on a machine that may have had other work to do, and does not count reading the files.

Where a set says that only the numbers of some rows are at hand, what these rows answered is not: they keep the marks of
the rows they were tested with then, and newer rows are not tested against them; where such a row is or may be the best
other one, a newer row has no \\*, and where it is or may be the best that was not trained, no ^.
"""
TOLD = ("nDCG@10", "nDCG@20", "MRR", "MPR", "HR@10", "F1", "accuracy")  # of what trained rows gained
ORDER = {name: number for number, name in enumerate((*RANKING_DEFAULTS, *PAIR_DEFAULTS))}  # of the columns
KINDS = {True: "Ranking", False: "Pairs"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Take in what is new, and write the page."""
    parser = argparse.ArgumentParser(description="Write docs/benchmarks.md from what was measured.")
    parser.add_argument("folders", nargs="*", type=Path, help="folders that longmatch evaluate wrote: they are added")
    parser.add_argument("--drop", nargs="+", default=[], help="SET/MODEL patterns of rows that were measured wrongly")
    parser.add_argument("--results", type=Path, default=HOME, help="where all that was measured is kept")
    parser.add_argument("--to", type=Path, default=Path(__file__).parents[1] / "docs" / "benchmarks.md")
    given = parser.parse_args(arguments)
    stored = Stored.load(given.results)
    for folder in given.folders:
        stored.merge(folder)
    stored.drop(given.drop)
    if given.folders or given.drop:
        stored.save(given.results)
    given.to.parent.mkdir(parents=True, exist_ok=True)
    given.to.write_text(write_page(stored), encoding="utf-8")
    print(f"Written: {given.to}")


def write_page(stored: Stored) -> str:
    """The whole page."""
    groups = [group.rows for group in deepcopy(list(stored.groups.values()))]
    for group in groups:
        _shorten(group)
    rows = [row for group in groups for row in group if not row.get("study")]
    parts = [
        "# Benchmarks",
        "",
        "Written by `python scripts/write_benchmarks.py`; what measured stands at the end.",
        "",
    ]
    parts += [RULES]
    for ranking in KINDS:
        parts += _summary(rows, ranking)
    for group in groups:
        parts += _set(group)
    parts += ["## What measured", "", *(line for about in stored.abouts for line in _made(about))]
    return "\n".join(parts).rstrip() + "\n"


def _shorten(rows: Sequence[Row]) -> None:
    """Settings that all rows of one trained model share are told once below the tables, not in every name."""
    trained: dict[str, list[Row]] = {}
    for row in rows:
        if row.get("seeds") and not row.get("study"):
            trained.setdefault(_trained_model(row["model"]), []).append(row)
    for model, mine in trained.items():
        settings = [_settings(row["model"]) for row in mine]
        shared = [word for word in settings[0] if all(word in others for others in settings)]
        for row in mine:
            row["trained_with"] = f"{model}: {' '.join(shared)}" if shared else ""
            row["model"] = " ".join(word for word in row["model"].split() if word not in shared)


def _trained_model(name: str) -> str:
    """Which model was trained, of a row's name.

    >>> [_trained_model(name) for name in ("colde steps=9", "trained first", "mean on trained sdr pairs=8")]
    ['colde', 'first', 'sdr']
    """
    words = name.split()
    return words[words.index("trained") + 1] if "trained" in words else words[0]


def _settings(name: str) -> list[str]:
    return [word for word in name.split() if "=" in word]


def _made(about: Mapping[str, Any]) -> list[str]:
    """One command: where, from which commit, with which weights, and which rows it made."""
    rows = "; ".join(f"{data}: {', '.join(models)}" for data, models in about["rows"].items())
    explained = "; ".join(f"{data}: {', '.join(models)}" for data, models in about.get("explanations", {}).items())
    lines = [f"- rows {rows}"] if rows else []
    lines += [f"- explanations {explained}"] if explained else []
    if not about["command"]:
        return ["Rows of which it was not recorded what made them:", "", *lines, ""]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    source = f"commit {about['commit']}" if about["commit"] else f"code {about['code']}, of no commit here"
    weights = [f"- weights {'; '.join(map(_weights, about['weights']))}"] if about["weights"] else []
    return ["```", about["command"], "```", "", f"- {source}, on {about['machine']}; {versions}", *weights, *lines, ""]


def _weights(found: Mapping[str, Any]) -> str:
    rounded = f", rounded to {found['rounded']}" if found["rounded"] else ""
    return f"{found['name']} ({found['digest']}{rounded}), read in {found['precision']}"


def _summary(rows: Sequence[Row], ranking: bool) -> list[str]:
    """The first measure of every model on every set, and the mean over the sets."""
    first = {(row["data"], row["model"]): (names[0], row) for row in rows if (names := _names([row], ranking))}
    sets = list(dict.fromkeys(data for data, _ in first if not data.endswith(SHUFFLED)))
    models = list(dict.fromkeys(model for data, model in first if data in sets))
    if not sets:
        return []
    named = {data: next(first[data, m][0] for m in models if (data, m) in first) for data in sets}
    lines = [f"## All sets, {KINDS[ranking].lower()}", ""]
    lines.append(_line(["model", *(f"{data} {named[data]}" for data in sets), "mean of the sets"]))
    lines.append(_line(["---"] + ["---:"] * (len(sets) + 1)))

    def value(data: str, model: str) -> float | None:
        return first[data, model][1]["measures"].get(named[data]) if (data, model) in first else None

    def standing(data: str, model: str) -> tuple[float, int]:
        return _standing(first[data, model][1], named[data]) if (data, model) in first else (-1.0, 0)

    best = {data: max(standing(data, model) for model in models) for data in sets}
    for model in sorted(models, key=_by_mean(sets, value)):
        found = [value(data, model) for data in sets]
        cells = [
            "" if x is None else _number(first[data, model][1], named[data], standing(data, model) == best[data])
            for x, data in zip(found, sets, strict=True)
        ]
        known = [x for x in found if x is not None]
        mean = f"{100 * sum(known) / len(known):.1f}" if len(known) == len(sets) else ""
        lines.append(_line([model, *cells, mean]))
    return [*lines, ""]


def _by_mean(sets: Sequence[str], value: Callable[[str, str], float | None]) -> Callable[[str], float]:
    return lambda model: -sum(value(data, model) or 0.0 for data in sets)


def _set(rows: Sequence[Row]) -> list[str]:
    """One set: its tables by protocol and study, what the trained rows gained, and the explanations."""
    one = rows[0]
    asked = f"{one['queries']} queries" + (f", {one['pairs']} pairs" if one["pairs"] else "")
    about = f"Split {one['split']}: {asked}, {one['documents']} documents, seed {one['seed']}."
    shuffled = " The sections of every document are in random order." if one["data"].endswith(SHUFFLED) else ""
    lines = [f"## {one['data']}", "", about + shuffled, ""]
    studies = dict.fromkeys(row["study"]["name"] for row in rows if row.get("study"))
    kinds = [ranking for ranking in KINDS if _names(rows, ranking)]
    for ranking in kinds:
        lines += [f"### {KINDS[ranking]}", ""] if len(kinds) > 1 else []
        lines += _table([row for row in rows if not row.get("study")], ranking)
        lines += _gains([row for row in rows if not row.get("study")], ranking) + _shuffled(rows, ranking)
        for name in studies:
            lines += [f"Study of {name}:", ""]
            lines += _table([row for row in rows if row.get("study", {}).get("name") == name], ranking)
    told = dict.fromkeys(row["trained_with"] for row in rows if row.get("trained_with"))
    lines += [f"All rows of a trained model have these settings too: {'; '.join(told)}.", ""] if told else []
    lost = [row["model"] for row in rows if "marks" in row]
    which = "all rows" if len(lost) == len(rows) else ", ".join(lost)
    lines += [f"Only the numbers are at hand of {which}.", ""] if lost else []
    return lines + _fidelity(rows)


def _table(rows: Sequence[Row], ranking: bool) -> list[str]:
    """Every measure of a protocol, with the interval of the first."""
    measures = _names(rows, ranking)
    if not measures:
        return []
    seeds = ["seeds"] if any(row.get("seeds") for row in rows) else []
    lines = [_line(["model", *measures, f"95 % of {measures[0]}", "ms a document", "unhandled", *seeds, "device"])]
    lines.append(_line(["---"] + ["---:"] * (len(measures) + 3) + ["---"] * (len(seeds) + 1)))
    best = {name: max(_standing(row, name) for row in rows) for name in measures}
    for row in sorted(rows, key=lambda r: _standing(r, measures[0]), reverse=True):
        cells = [_cell(row, name, best[name]) for name in measures]
        low, high = row["intervals"].get(measures[0], (0.0, 0.0))
        extra = [f"{100 * low:.1f} to {100 * high:.1f}", f"{1000 * row['seconds_per_document']:.1f}"]
        trained = [", ".join(map(str, row.get("seeds", ())))] if seeds else []
        lines.append(_line([row["model"], *cells, *extra, str(row["unhandled"]), *trained, row["device"]]))
    return [*lines, ""]


def _gains(rows: Sequence[Row], ranking: bool) -> list[str]:
    """The trained rows against tfidf and against the best row that was not trained."""
    trained = [row for row in rows if row.get("seeds") and _names([row], ranking)]
    if not trained:
        return []
    lexical = [name for name in ("tfidf", "bm25") if any(row.get(f"against_{name}") for row in trained)]
    plain = f"{', '.join(lexical)}, and against " if lexical else ""
    lines = [f"Trained rows against {plain}the best row that was not trained:", ""]
    lines += [_line(["model", "measure", *lexical, "best untrained", ""])]
    lines += [_line(["---", "---", *["---:"] * len(lexical), "---", "---:"])]
    for row in trained:
        for name in [n for n in _names([row], ranking) if n in TOLD]:
            best = row["against_best_untrained"].get(name)
            gained = [_change(row.get(f"against_{other}", {}).get(name)) for other in lexical]
            lines.append(_line([row["model"], name, *gained, best["model"] if best else "", _change(best)]))
    return [*lines, ""]


def _shuffled(rows: Sequence[Row], ranking: bool) -> list[str]:
    """Each row against the same model over sections in their own order."""
    compared = [row for row in rows if row.get("against_unshuffled")]
    measures = [name for name in _names(compared, ranking) if any(name in r["against_unshuffled"] for r in compared)]
    if not measures:
        return []
    lines = ["Against the same model with all sections in their own order:", ""]
    lines += [_line(["model", *measures]), _line(["---"] + ["---:"] * len(measures))]
    lines += [_line([r["model"], *(_change(r["against_unshuffled"].get(m)) for m in measures)]) for r in compared]
    return [*lines, ""]


def _fidelity(rows: Sequence[Row]) -> list[str]:
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


def _names(rows: Sequence[Row], ranking: bool) -> list[str]:
    """The measures of a protocol that rows have."""
    found = dict.fromkeys(name for row in rows for name in row["measures"])
    mine = [name for name in found if isinstance(parse(name), RankingMeasure) == ranking]
    return sorted(mine, key=lambda name: ORDER.get(name, len(ORDER)))


def _standing(row: Row, name: str) -> tuple[float, int]:
    """What rows are ordered by: the value, and where only its first digits are known, the place it had."""
    return row["measures"].get(name, -1.0), -row.get("places", {}).get(name, 0)


def _cell(row: Row, name: str, best: tuple[float, int]) -> str:
    if name not in row["measures"]:
        return ""
    return _number(row, name, _standing(row, name) == best) + _marks(row, name)


def _marks(row: Row, name: str) -> str:
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


def _number(row: Row, name: str, bold: bool) -> str:
    deviation = row.get("deviations", {}).get(name)
    text = _percent(row["measures"][name]) + ("" if deviation is None else f"±{100 * deviation:.1f}")
    return f"**{text}**" if bold else text


def _change(found: Mapping[str, Any] | None) -> str:
    return "" if not found else f"{100 * found['difference']:+.1f} (p = {found['p']:.4f})"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
