"""Rows of the table: a model's measures on a set, with intervals and comparisons with the other rows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from longmatch.evaluation.measures import PAIR_DEFAULTS, RANKING_DEFAULTS, Measure, RankingMeasure, parse
from longmatch.evaluation.measures.answers import Floats
from longmatch.evaluation.runs import Run
from longmatch.evaluation.significance import (
    Comparison,
    Interval,
    bootstrap_means,
    bootstrap_pairs,
    compare_bootstraps,
    compare_queries,
)

BASELINE = "tfidf"


@dataclass
class Row:
    """One model on one set."""

    run: Run
    measures: dict[str, float]
    intervals: dict[str, Interval] = field(default_factory=dict)
    against_tfidf: dict[str, Comparison] = field(default_factory=dict)
    best_other: dict[str, tuple[str, Comparison]] = field(default_factory=dict)  # the best row besides this one
    fidelity: dict[str, Any] | None = None

    @property
    def seconds_per_document(self) -> float:
        """Of encoding."""
        return self.run.encoding_seconds / max(1, self.run.documents)

    def to_dict(self) -> dict[str, Any]:
        """For results.json."""
        run = self.run
        found = {
            "data": run.data,
            "model": run.model,
            "split": run.split,
            "seed": run.seed,
            "queries": len(run.answers) or len(set(run.sources)),
            "pairs": len(run.sources),
            "documents": run.documents,
            "measures": self.measures,
            "intervals": {name: [i.low, i.high] for name, i in self.intervals.items()},
            "against_tfidf": {name: asdict(c) for name, c in self.against_tfidf.items()},
            "against_best_other": {name: {"model": m, **asdict(c)} for name, (m, c) in self.best_other.items()},
            "seconds_per_document": self.seconds_per_document,
            "seconds_scoring": run.scoring_seconds,
            "unhandled": len(run.unhandled),
            "unhandled_documents": dict(run.unhandled),
            "device": run.device,
        }
        return found | ({"fidelity": self.fidelity} if self.fidelity else {})


def make_rows(runs: Sequence[Run], measures: Sequence[Measure] | None = None, seed: int = 0) -> list[Row]:
    """The rows of runs that answered the same questions, each compared with tfidf and with the best of the others."""
    rows = plain_rows(runs, measures)
    for measure in {m.name: m for run in runs for m in measures_for(run, measures)}.values():
        having = [row for row in rows if measure.name in row.measures]
        drawn = [_drawn(measure, row.run, seed) for row in having]
        for i, row in enumerate(having):
            row.intervals[measure.name] = Interval.of(drawn[i])
            others = [j for j in range(len(having)) if j != i]
            best = max(others, key=lambda j: having[j].measures[measure.name], default=None)
            for j in others:
                other = having[j]
                if j == best or other.run.model == BASELINE:
                    compared = _compare(measure, (row, other), (drawn[i], drawn[j]), seed)
                    if other.run.model == BASELINE:
                        row.against_tfidf[measure.name] = compared
                    if j == best:
                        row.best_other[measure.name] = other.run.model, compared
    return rows


def plain_rows(runs: Sequence[Run], measures: Sequence[Measure] | None = None) -> list[Row]:
    """The rows with their measures alone."""
    return [Row(run, {m.name: _value(m, run) for m in measures_for(run, measures)}) for run in runs]


def measures_for(run: Run, measures: Sequence[Measure] | None) -> list[Measure]:
    """The measures asked for that apply to a run; by default all of its kind."""
    names = [*(RANKING_DEFAULTS if run.answers else ()), *(PAIR_DEFAULTS if run.verdicts else ())]
    asked = [parse(name) for name in names] if measures is None else measures
    return [measure for measure in asked if _applies(measure, run)]


def values_of(measure: RankingMeasure, run: Run) -> Floats:
    """One value a query, in the order of the queries' ids."""
    return measure.each([run.answers[query] for query in sorted(run.answers)])


def _applies(measure: Measure, run: Run) -> bool:
    if isinstance(measure, RankingMeasure):
        return bool(run.answers)
    return run.verdicts is not None and not (measure.needs_threshold and run.verdicts.threshold is None)


def _value(measure: Measure, run: Run) -> float:
    if isinstance(measure, RankingMeasure):
        return float(values_of(measure, run).mean())
    assert run.verdicts is not None
    return measure(run.verdicts)


def _drawn(measure: Measure, run: Run, seed: int) -> Floats:
    """The measure under a bootstrap."""
    if isinstance(measure, RankingMeasure):
        return bootstrap_means(values_of(measure, run), seed)
    assert run.verdicts is not None
    return bootstrap_pairs(measure, run.verdicts, run.sources, seed)


def _compare(measure: Measure, rows: tuple[Row, Row], drawn: tuple[Floats, Floats], seed: int) -> Comparison:
    mine, theirs = rows
    if isinstance(measure, RankingMeasure):
        return compare_queries(values_of(measure, mine.run), values_of(measure, theirs.run), seed)
    return compare_bootstraps(mine.measures[measure.name] - theirs.measures[measure.name], *drawn)
