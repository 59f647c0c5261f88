"""The page of one set, docs/results/SET.md: every stored row."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.papers.row_names import readable_names
from benchmarks.papers.stored_results import ResultGroup, StoredRow
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.catalogue import find
from longmatch.lab.datasets.near_pairs import NEAR
from longmatch.lab.evaluation.corpus import SHUFFLED
from longmatch.lab.evaluation.measures import PAIR_DEFAULTS, RANKING_DEFAULTS, RankingMeasure, parse

ORDER = {name: number for number, name in enumerate((*RANKING_DEFAULTS, *PAIR_DEFAULTS))}  # of the columns
SAME = {f"recall@{cutoff}": f"HR@{cutoff}" for cutoff in (5, 10, 20, 50, 100)}  # equal by definition: shown once
RANKING, PAIRS = True, False
KINDS = {RANKING: "Ranking", PAIRS: "Pairs"}
REMARKS = {  # on sets whose names end like this
    SHUFFLED: "The sections of every document are in random order.",
    NEAR: "The non-matches are BM25's best documents that do not match, so BM25 stands outside the comparison: it is "
    "below chance by construction, and rows that resemble it (TF-IDF, phrases) are held back too. The order of a pair "
    "gives its label away, since the older document is the one cited: rows of BERT-PLI, the cross-encoder and SST "
    'without "either order" in their names learnt that, and are not comparable with the rest '
    "([SST](../sst.md#near-pairs)).",
}


def write_set_page(group: ResultGroup) -> str:
    """A set's tables by protocol and study, the comparisons of its trained rows, and its explanations."""
    rows, names = group.rows, readable_names(row["model"] for row in group.rows)
    first, what = rows[0], what_it_holds(group.data)
    size = f"{first['queries']:,} queries" + (f", {first['pairs']:,} pairs" if first["pairs"] else "")
    summary = f"{what + ': ' if what else ''}{first['documents']:,} documents, {size}, split {group.split}."
    remarks = (remark for ending, remark in REMARKS.items() if group.data.endswith(ending))
    about = " ".join([summary, *remarks, "[Method and marks](../benchmarks.md)."])
    lines = [f"# Results on {group.label}", "", about, ""]
    studies = dict.fromkeys(row["study"]["name"] for row in rows if row.get("study"))
    main = [row for row in rows if not row.get("study")]
    for ranking in (kind for kind in KINDS if measures_of(rows, kind)):
        lines += [f"## {KINDS[ranking]}", "", *_table(main, names, ranking)]
        lines += _comparisons(main, names, ranking) + _shuffled(rows, names, ranking)
        for study in studies:
            lines += [f"Study of {study}:", ""]
            lines += _table([row for row in rows if row.get("study", {}).get("name") == study], names, ranking)
    return "\n".join([*lines, *_explanations(rows, names), *_details(rows, names)]).rstrip() + "\n"


def what_it_holds(data: str) -> str:
    """As the catalogue says it; empty for a set that is not in it."""
    try:
        held = find(data.removesuffix(SHUFFLED).removesuffix(NEAR)).what
        return f"{held}; near pairs" if data.endswith(NEAR) else held
    except LongmatchError:
        return ""


def _table(rows: Sequence[StoredRow], names: Mapping[str, str], ranking: bool) -> list[str]:
    """Every measure of a protocol, with the interval of the first."""
    measures = measures_of(rows, ranking)
    if not measures:
        return []
    lines = head(["model", *measures, f"95 % of {measures[0]}"])
    best = {name: max(standing(row, name) for row in rows) for name in measures}
    for row in sorted(rows, key=lambda r: standing(r, measures[0]), reverse=True):
        if not any(name in row["measures"] for name in measures):
            continue
        low, high = row["intervals"].get(measures[0], (0.0, 0.0))
        cells = [cell(row, name, best[name]) for name in measures]
        lines.append(line([names[row["model"]], *cells, f"{percent(low)} to {percent(high)}"]))
    return [*lines, ""]


def _comparisons(rows: Sequence[StoredRow], names: Mapping[str, str], ranking: bool) -> list[str]:
    """The first measure of the trained rows compared with tfidf, bm25 and the best untrained row."""
    trained = [row for row in rows if row.get("seeds") and measures_of([row], ranking)]
    if not trained:
        return []
    measure = measures_of(trained, ranking)[0]
    lines = [f"Trained rows, {measure} compared with TF-IDF, BM25 and the best untrained row:", ""]
    lines += head(["model", "TF-IDF", "BM25", "best untrained", "its row"])
    for row in sorted(trained, key=lambda r: standing(r, measure), reverse=True):
        best = row["against_best_untrained"].get(measure)
        against = [change(row.get(f"against_{other}", {}).get(measure)) for other in ("tfidf", "bm25")]
        known = names.get(best["model"], best["model"]) if best else ""
        lines.append(line([names[row["model"]], *against, change(best), known]))
    return [*lines, ""]


def _shuffled(rows: Sequence[StoredRow], names: Mapping[str, str], ranking: bool) -> list[str]:
    """Each row compared with the same model over sections in their original order."""
    compared = [row for row in rows if row.get("against_unshuffled")]
    measures = [
        name for name in measures_of(compared, ranking) if any(name in r["against_unshuffled"] for r in compared)
    ]
    if not measures:
        return []
    lines = ["Compared with the same model over sections in their original order:", "", *head(["model", *measures])]
    for row in compared:
        lines.append(line([names[row["model"]], *(change(row["against_unshuffled"].get(m)) for m in measures)]))
    return [*lines, ""]


def _explanations(rows: Sequence[StoredRow], names: Mapping[str, str]) -> list[str]:
    """The fidelity of the explanations, where it was measured."""
    measured = [row for row in rows if row.get("fidelity")]
    if not measured:
        return []
    lines = [
        "## Explanations",
        "",
        f"The score lost by deleting the {measured[0]['fidelity']['share']:.0%} of sentences that contribute most, and",
        "as many at random; and the score of those sentences alone.",
        "",
        *head(["model", "pairs", "score", "named deleted", "random deleted", "ratio", "named alone", "random alone"]),
    ]
    for row in measured:
        found = row["fidelity"]
        deleted, alone = found["deletion"], found["insertion"]
        ratio = "" if deleted["ratio"] is None else f"{deleted['ratio']:.1f}"
        lost = [percent(value) for value in (found["score"], deleted["named"], deleted["random"])]
        kept = [percent(alone["named"]), percent(alone["random"])]
        lines.append(line([names[row["model"]], str(found["pairs"]), *lost, ratio, *kept]))
    return [*lines, ""]


def _details(rows: Sequence[StoredRow], names: Mapping[str, str]) -> list[str]:
    """How each row is stored and was measured."""
    lines = [
        "## Details",
        "",
        "The name of each row in `benchmarks/results`, with the settings that differ from its model's defaults; its",
        "command, machine and commit are in `benchmarks/results/about.json.xz`. Of rows whose runs are not stored only",
        "the numbers are available: they keep the marks of the tests made at the time, and newer rows are not tested",
        "against them.",
        "",
        *head(["model", "stored as", "seeds", "device", "runs stored", "ms a document", "unhandled"], left=5),
    ]
    for row in rows:
        seeds = ", ".join(map(str, row.get("seeds", ())))
        cost = f"{1000 * row['seconds_per_document']:.1f}"
        stored = "no" if "marks" in row else "yes"
        cells = [names[row["model"]], f"`{row['model']}`", seeds, row["device"], stored, cost, str(row["unhandled"])]
        lines.append(line(cells))
    return [*lines, ""]


def measures_of(rows: Sequence[StoredRow], ranking: bool) -> list[str]:
    """The measures of a protocol that rows have, each value once."""
    names = dict.fromkeys(name for row in rows for name in row["measures"])
    of_kind = [name for name in names if isinstance(parse(name), RankingMeasure) == ranking]
    kept = [name for name in of_kind if SAME.get(name) not in names]
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
