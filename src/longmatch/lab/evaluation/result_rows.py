"""Result rows: a model's measures on a set, with intervals and comparisons with other rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from longmatch.lab.evaluation.measures import (
    PAIR_DEFAULTS,
    RANKING_DEFAULTS,
    Floats,
    Measure,
    RankingMeasure,
    parse,
)
from longmatch.lab.evaluation.runs import ModelRun
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
class ResultRow:
    """One model on one set. A trained model has one run per seed, and its measures are means over the seeds."""

    runs: Sequence[ModelRun]
    measures: dict[str, float]
    intervals: dict[str, Interval] = field(default_factory=dict)
    against_tfidf: dict[str, Comparison] = field(default_factory=dict)
    against_bm25: dict[str, Comparison] = field(default_factory=dict)  # the first stage of rows that rerank
    best_other: dict[str, tuple[str, Comparison]] = field(default_factory=dict)  # the best row besides this one
    best_untrained: dict[str, tuple[str, Comparison]] = field(default_factory=dict)  # for trained rows
    unshuffled: dict[str, Comparison] = field(default_factory=dict)  # the same model, sections in their original order
    fidelity: dict[str, Any] | None = None

    @property
    def run(self) -> ModelRun:
        """The first seed's; the labels are the same for all."""
        return self.runs[0]

    @property
    def model(self) -> str:
        """The row's name."""
        return self.run.model

    @property
    def trained(self) -> bool:
        """Whether the model is a trained one."""
        return self.run.trained is not None

    @property
    def seeds(self) -> list[int]:
        """Of the trainings."""
        return [run.trained for run in self.runs if run.trained is not None]

    @property
    def depth(self) -> int | None:
        """How many documents were reranked, by a model that reads both documents together."""
        depth: int | None = self.run.facts.get("model", {}).get("depth")
        return depth

    @property
    def first_stage(self) -> str:
        """What found these documents."""
        return str(self.run.facts.get("model", {}).get("first", FIRST_STAGE))

    @property
    def seconds_per_document(self) -> float:
        """Encoding time."""
        return float(np.mean([run.encoding_seconds / max(1, run.documents) for run in self.runs]))

    @property
    def unhandled(self) -> Mapping[str, str]:
        """Documents that could not be handled with at least one seed, and why."""
        return {id: why for run in self.runs for id, why in run.unhandled.items()}

    def can_be_tested(self, name: str) -> bool:
        """Whether a measure can be computed from samples of the labels."""
        return name in self.measures and not any(run.verdicts and name in run.verdicts.known for run in self.runs)

    def deviation(self, name: str) -> float | None:
        """The standard deviation of a measure over the seeds; None with fewer than two."""
        return float(np.std(_values(parse(name), self), ddof=1)) if len(self.runs) > 1 else None

    def to_dict(self) -> dict[str, Any]:
        """For results.json."""
        run = self.run
        result: dict[str, Any] = {
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
            "against_best_other": _with_model(self.best_other),
            "seconds_per_document": self.seconds_per_document,
            "seconds_scoring": float(np.mean([run.scoring_seconds for run in self.runs])),
            "unhandled": len(self.unhandled),
            "unhandled_documents": dict(self.unhandled),
            "device": run.device,
        }
        if self.trained:
            result["seeds"] = self.seeds
            result["deviations"] = {name: self.deviation(name) for name in self.measures if len(self.runs) > 1}
            result["each_seed"] = [{name: _value(parse(name), run) for name in self.measures} for run in self.runs]
            result["against_best_untrained"] = _with_model(self.best_untrained)
        if self.unshuffled:
            result["against_unshuffled"] = {name: asdict(c) for name, c in self.unshuffled.items()}
        if self.depth is not None:
            result["rerank_depth"] = self.depth
        if run.study:
            result["study"] = dict(run.study)
        return result | ({"fidelity": self.fidelity} if self.fidelity else {})


def make_rows(runs: Sequence[ModelRun], measures: Sequence[Measure] | None = None, seed: int = 0) -> list[ResultRow]:
    """The rows of runs on the same labels, each compared with tfidf, bm25 and the best other row; a trained one also
    with the best untrained row.

    A study's rows are compared with others, but nothing is compared with them.
    """
    rows, comparer = rows_without_tests(runs, measures), Comparer(seed)
    for measure in {m.name: m for run in runs for m in measures_for(run, measures)}.values():
        measured = [row for row in rows if row.can_be_tested(measure.name)]
        for row in measured:
            row.intervals[measure.name] = Interval.of(comparer.samples(row, measure))
            others = [other for other in measured if other is not row and not other.run.study]
            by_model = {other.model: other for other in others}
            tfidf, bm25 = by_model.get(BASELINE), by_model.get(FIRST_STAGE)
            best = _best(others, measure)
            untrained = _best([other for other in others if not other.trained], measure) if row.trained else None
            others_compared = [other for other in (tfidf, bm25, best, untrained) if other is not None]
            comparisons = {id(other): comparer.compare(row, other, measure) for other in others_compared}
            if tfidf:
                row.against_tfidf[measure.name] = comparisons[id(tfidf)]
            if bm25:
                row.against_bm25[measure.name] = comparisons[id(bm25)]
            if best:
                row.best_other[measure.name] = best.model, comparisons[id(best)]
            if untrained:
                row.best_untrained[measure.name] = untrained.model, comparisons[id(untrained)]
    return rows


def compare_shuffled(rows: Sequence[ResultRow], originals: Sequence[ResultRow], seed: int = 0) -> None:
    """Compare rows over shuffled sections with the same models' rows over the original order."""
    partners, comparer = {row.model: row for row in originals}, Comparer(seed)
    for row in rows:
        partner = partners.get(row.model)
        for name in row.measures if partner else ():
            if partner and row.can_be_tested(name) and partner.can_be_tested(name):
                row.unshuffled[name] = comparer.compare(row, partner, parse(name))


@dataclass
class Comparer:
    """Compares rows on the same labels.

    Of two trained models only the seeds that both have are compared, if there are any: seeds differ from each other by
    more than many models do.
    """

    seed: int = 0
    _drawn: dict[tuple[int, str], Floats] = field(default_factory=dict)  # by run and measure

    def compare(self, row: ResultRow, other: ResultRow, measure: Measure) -> Comparison:
        """The difference of a measure, and its significance."""
        shared = set(row.seeds) & set(other.seeds)
        if shared:
            row, other = (
                replace(each, runs=[run for run in each.runs if run.trained in shared]) for each in (row, other)
            )
        if isinstance(measure, RankingMeasure):
            return compare_queries(values_by_query(measure, row), values_by_query(measure, other), self.seed)
        difference = float(np.mean(_values(measure, row)) - np.mean(_values(measure, other)))
        return compare_bootstraps(difference, self.samples(row, measure), self.samples(other, measure))

    def samples(self, row: ResultRow, measure: Measure) -> Floats:
        """Bootstrap samples of the measure, each the mean over the seeds."""
        if isinstance(measure, RankingMeasure):
            return bootstrap_means(values_by_query(measure, row), self.seed)
        for run in row.runs:
            if (id(run), measure.name) not in self._drawn:
                assert run.verdicts is not None
                drawn = bootstrap_pairs(measure, run.verdicts, run.sources, self.seed)
                self._drawn[id(run), measure.name] = drawn
        return np.asarray(np.mean([self._drawn[id(run), measure.name] for run in row.runs], axis=0), dtype=np.float64)


def rows_without_tests(runs: Sequence[ModelRun], measures: Sequence[Measure] | None = None) -> list[ResultRow]:
    """The rows with their measures alone; a model's seeds make one row."""
    models: dict[str, list[ModelRun]] = {}
    for run in runs:
        models.setdefault(run.model, []).append(run)
    rows = [ResultRow(sorted(seeds, key=lambda run: run.trained or 0), {}) for seeds in models.values()]
    for row in rows:
        shared = [m for m in measures_for(row.run, measures) if all(_applies(m, run) for run in row.runs)]
        row.measures = {m.name: float(np.mean(_values(m, row))) for m in shared}
    return rows


def measures_for(run: ModelRun, measures: Sequence[Measure] | None) -> list[Measure]:
    """The measures that apply to a run; all of its kind if None are given."""
    names = [*(RANKING_DEFAULTS if run.answers else ()), *(PAIR_DEFAULTS if run.verdicts else ())]
    candidates = [parse(name) for name in names] if measures is None else measures
    return [measure for measure in candidates if _applies(measure, run)]


def values_by_query(measure: RankingMeasure, row: ResultRow) -> Floats:
    """One value per query, the mean over the seeds, in order of the query ids."""
    each = [measure.each([run.answers[query] for query in sorted(run.answers)]) for run in row.runs]
    return np.asarray(np.mean(each, axis=0), dtype=np.float64)


def _applies(measure: Measure, run: ModelRun) -> bool:
    if isinstance(measure, RankingMeasure):
        return bool(run.answers)
    return run.verdicts is not None and not (measure.needs_threshold and run.verdicts.threshold is None)


def _values(measure: Measure, row: ResultRow) -> list[float]:
    """The measure of each seed."""
    return [_value(measure, run) for run in row.runs]


def _value(measure: Measure, run: ModelRun) -> float:
    if isinstance(measure, RankingMeasure):
        return float(measure.each([run.answers[query] for query in sorted(run.answers)]).mean())
    assert run.verdicts is not None
    return measure(run.verdicts)


def _best(rows: Sequence[ResultRow], measure: Measure) -> ResultRow | None:
    return max(rows, key=lambda row: row.measures[measure.name], default=None)


def _with_model(comparisons: Mapping[str, tuple[str, Comparison]]) -> dict[str, Any]:
    return {name: {"model": model, **asdict(comparison)} for name, (model, comparison) in comparisons.items()}
