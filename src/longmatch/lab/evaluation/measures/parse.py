"""Measures by name."""

import re
from collections.abc import Callable

from longmatch.errors import LongmatchError
from longmatch.lab.evaluation.measures.pairs import AveragePrecision, PairMeasure, RocAuc, ThresholdMeasure
from longmatch.lab.evaluation.measures.ranking import HR, MAP, MPR, MRR, MrrReleased, RankingMeasure, Recall, nDCG

Measure = RankingMeasure | PairMeasure

_RANKING: dict[str, type[RankingMeasure]] = {
    "ndcg": nDCG,
    "mrr": MRR,
    "mrr_released": MrrReleased,
    "mpr": MPR,
    "hr": HR,
    "map": MAP,
    "recall": Recall,
}
_PAIRS: dict[str, Callable[[], PairMeasure]] = {
    "accuracy": lambda: ThresholdMeasure("accuracy"),
    "precision": lambda: ThresholdMeasure("precision"),
    "recall": lambda: ThresholdMeasure("recall"),
    "f1": lambda: ThresholdMeasure("F1"),
    "average_precision": AveragePrecision,
    "roc_auc": RocAuc,
}

RANKING_DEFAULTS = ("nDCG@10", "nDCG@20", "MRR", "MAP", "MPR", "HR@10", "HR@100", "recall@100", "mrr_released")
PAIR_DEFAULTS = ("F1", "accuracy", "precision", "recall", "average_precision", "roc_auc")


def parse(name: str) -> Measure:
    """The measure of that name, in any case. `recall@k` is a ranking measure, plain `recall` one of pairs.

    >>> parse("ndcg@10").name, parse("F1").name, parse("recall").needs_threshold
    ('nDCG@10', 'F1', True)
    """
    kind, at, cutoff = name.strip().lower().partition("@")
    kind = re.sub(r"[ -]", "_", kind)
    if at and kind in _RANKING and re.fullmatch(r"[1-9]\d{0,8}", cutoff):
        return _RANKING[kind](int(cutoff))
    if not at and kind in _PAIRS:
        return _PAIRS[kind]()
    if not at and kind in _RANKING and kind != "hr":
        return _RANKING[kind]()
    known = ", ".join([*RANKING_DEFAULTS, *PAIR_DEFAULTS])
    raise LongmatchError(f"There is no measure {name.strip()}. Name some of {known}, with any number after @.")


def parse_all(names: str) -> list[Measure]:
    """Comma-separated measures, without repetitions."""
    measures = (parse(name) for name in names.split(",") if name.strip())
    return list({measure.name: measure for measure in measures}.values())
