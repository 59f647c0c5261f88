"""Rows of the table: a model's measures on a set, with intervals and comparisons with the other rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from longmatch.lab.evaluation.measures import (
    PAIR_DEFAULTS,
    RANKING_DEFAULTS,
    Measure,
    RankingMeasure,
    parse,
)
from longmatch.lab.evaluation.measures.answers import Floats
from longmatch.lab.evaluation.runs import Run
from longmatch.lab.evaluation.significance import (
    Comparison,
    Interval,
    bootstrap_means,
    bootstrap_pairs,
    compare_bootstraps,
    compare_queries,
)

BASELINE, FIRST_STAGE = "tfidf", "bm25"


@dataclass
class Row:
    """One model on one set; of a trained one a run for each seed. A measure is the mean over the seeds."""

    runs: Sequence[Run]
    measures: dict[str, float]
    intervals: dict[str, Interval] = field(default_factory=dict)
    against_tfidf: dict[str, Comparison] = field(default_factory=dict)
    against_bm25: dict[str, Comparison] = field(default_factory=dict)  # whose best the re-ranking rows put in order
    best_other: dict[str, tuple[str, Comparison]] = field(default_factory=dict)  # the best row besides this one
    best_untrained: dict[str, tuple[str, Comparison]] = field(default_factory=dict)  # of a trained row: the baselines'
    unshuffled: dict[str, Comparison] = field(default_factory=dict)  # the same model with all sections in place
    fidelity: dict[str, Any] | None = None

    @property
    def run(self) -> Run:
        """Of the first seed: what was asked is the same for all."""
        return self.runs[0]

    @property
    def model(self) -> str:
        """What the row is called."""
        return self.run.model

    @property
    def trained(self) -> bool:
        """Whether the model was trained here."""
        return self.run.trained is not None

    @property
    def seeds(self) -> list[int]:
        """Of the trainings."""
        return [run.trained for run in self.runs if run.trained is not None]

    @property
    def depth(self) -> int | None:
        """Of a model that reads two documents together: how many it ranked anew."""
        found: int | None = self.run.facts.get("model", {}).get("depth")
        return found

    @property
    def seconds_per_document(self) -> float:
        """Of encoding."""
        return float(np.mean([run.encoding_seconds / max(1, run.documents) for run in self.runs]))

    @property
    def unhandled(self) -> Mapping[str, str]:
        """Documents that could not be handled with some seed, and why."""
        return {id: why for run in self.runs for id, why in run.unhandled.items()}

    def deviation(self, name: str) -> float | None:
        """The standard deviation of a measure over the seeds; None with fewer than two."""
        return float(np.std(_values(parse(name), self), ddof=1)) if len(self.runs) > 1 else None

    def to_dict(self) -> dict[str, Any]:
        """For results.json."""
        run = self.run
        found: dict[str, Any] = {
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
            "against_bm25": {name: asdict(c) for name, c in self.against_bm25.items()},
            "against_best_other": _named(self.best_other),
            "seconds_per_document": self.seconds_per_document,
            "seconds_scoring": float(np.mean([run.scoring_seconds for run in self.runs])),
            "unhandled": len(self.unhandled),
            "unhandled_documents": dict(self.unhandled),
            "device": run.device,
        }
        if self.trained:
            found["seeds"] = self.seeds
            found["deviations"] = {name: self.deviation(name) for name in self.measures if len(self.runs) > 1}
            found["each_seed"] = [{name: _value(parse(name), run) for name in self.measures} for run in self.runs]
            found["against_best_untrained"] = _named(self.best_untrained)
        if self.unshuffled:
            found["against_unshuffled"] = {name: asdict(c) for name, c in self.unshuffled.items()}
        if self.depth is not None:
            found["rerank_depth"] = self.depth
        if run.study:
            found["study"] = dict(run.study)
        return found | ({"fidelity": self.fidelity} if self.fidelity else {})


def make_rows(runs: Sequence[Run], measures: Sequence[Measure] | None = None, seed: int = 0) -> list[Row]:
    """The rows of runs that answered the same questions, each compared with tfidf, with bm25, with the best of the
    others, and a trained one with the best of those that were not trained.

    A study's rows are compared, but nothing is compared with them.
    """
    rows = plain_rows(runs, measures)
    for measure in {m.name: m for run in runs for m in measures_for(run, measures)}.values():
        having = [row for row in rows if measure.name in row.measures]
        drawn = {id(row): _drawn(measure, row, seed) for row in having}
        for row in having:
            row.intervals[measure.name] = Interval.of(drawn[id(row)])
            others = [other for other in having if other is not row and not other.run.study]
            tfidf, bm25 = (_called(name, others) for name in (BASELINE, FIRST_STAGE))
            best = _best(others, measure)
            plain = _best([other for other in others if not other.trained], measure) if row.trained else None
            found = {
                id(other): _compare(measure, (row, other), (drawn[id(row)], drawn[id(other)]), seed)
                for other in (tfidf, bm25, best, plain)
                if other is not None
            }
            if tfidf:
                row.against_tfidf[measure.name] = found[id(tfidf)]
            if bm25:
                row.against_bm25[measure.name] = found[id(bm25)]
            if best:
                row.best_other[measure.name] = best.model, found[id(best)]
            if plain:
                row.best_untrained[measure.name] = plain.model, found[id(plain)]
    return rows


def compare_shuffled(rows: Sequence[Row], plain: Sequence[Row], seed: int = 0) -> None:
    """Compare rows with those of the same models and questions over documents in their own order."""
    partners = {row.model: row for row in plain}
    for row in rows:
        partner = partners.get(row.model)
        for name in row.measures if partner else ():
            if partner and name in partner.measures:
                row.unshuffled[name] = compare_rows(row, partner, name, seed)


def compare_rows(row: Row, other: Row, name: str, seed: int = 0) -> Comparison:
    """How much a measure of a row exceeds another's that answered the same questions."""
    measure = parse(name)
    return _compare(measure, (row, other), (_drawn(measure, row, seed), _drawn(measure, other, seed)), seed)


def plain_rows(runs: Sequence[Run], measures: Sequence[Measure] | None = None) -> list[Row]:
    """The rows with their measures alone; the seeds of a model are one row."""
    models: dict[str, list[Run]] = {}
    for run in runs:
        models.setdefault(run.model, []).append(run)
    rows = [Row(sorted(found, key=lambda run: run.trained or 0), {}) for found in models.values()]
    for row in rows:
        asked = [m for m in measures_for(row.run, measures) if all(_applies(m, run) for run in row.runs)]
        row.measures = {m.name: float(np.mean(_values(m, row))) for m in asked}
    return rows


def measures_for(run: Run, measures: Sequence[Measure] | None) -> list[Measure]:
    """The measures asked for that apply to a run; by default all of its kind."""
    names = [*(RANKING_DEFAULTS if run.answers else ()), *(PAIR_DEFAULTS if run.verdicts else ())]
    asked = [parse(name) for name in names] if measures is None else measures
    return [measure for measure in asked if _applies(measure, run)]


def values_of(measure: RankingMeasure, row: Row) -> Floats:
    """One value a query, the mean over the seeds, in the order of the queries' ids."""
    return np.asarray(np.mean([_each(measure, run) for run in row.runs], axis=0), dtype=np.float64)


def _each(measure: RankingMeasure, run: Run) -> Floats:
    return measure.each([run.answers[query] for query in sorted(run.answers)])


def _applies(measure: Measure, run: Run) -> bool:
    if isinstance(measure, RankingMeasure):
        return bool(run.answers)
    return run.verdicts is not None and not (measure.needs_threshold and run.verdicts.threshold is None)


def _values(measure: Measure, row: Row) -> list[float]:
    """The measure of each seed."""
    return [_value(measure, run) for run in row.runs]


def _value(measure: Measure, run: Run) -> float:
    if isinstance(measure, RankingMeasure):
        return float(_each(measure, run).mean())
    assert run.verdicts is not None
    return measure(run.verdicts)


def _drawn(measure: Measure, row: Row, seed: int) -> Floats:
    """The measure under a bootstrap: each draw's mean over the seeds."""
    if isinstance(measure, RankingMeasure):
        return bootstrap_means(values_of(measure, row), seed)
    found = [bootstrap_pairs(measure, run.verdicts, run.sources, seed) for run in row.runs if run.verdicts]
    return np.asarray(np.mean(found, axis=0), dtype=np.float64)


def _compare(measure: Measure, rows: tuple[Row, Row], drawn: tuple[Floats, Floats], seed: int) -> Comparison:
    mine, theirs = rows
    if isinstance(measure, RankingMeasure):
        return compare_queries(values_of(measure, mine), values_of(measure, theirs), seed)
    return compare_bootstraps(mine.measures[measure.name] - theirs.measures[measure.name], *drawn)


def _called(name: str, rows: Sequence[Row]) -> Row | None:
    return next((row for row in rows if row.model == name), None)


def _best(rows: Sequence[Row], measure: Measure) -> Row | None:
    return max(rows, key=lambda row: row.measures[measure.name], default=None)


def _named(found: Mapping[str, tuple[str, Comparison]]) -> dict[str, Any]:
    return {name: {"model": model, **asdict(comparison)} for name, (model, comparison) in found.items()}
