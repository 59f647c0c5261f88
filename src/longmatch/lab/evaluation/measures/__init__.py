"""Measures as objects with a name and parameters: `nDCG@10`, `MRR`, `MPR`, `HR@10`, `F1`, ..."""

from longmatch.lab.evaluation.measures.pairs import PairMeasure, PairPredictions, best_threshold, calibration_error
from longmatch.lab.evaluation.measures.parse import PAIR_DEFAULTS, RANKING_DEFAULTS, Measure, parse, parse_all
from longmatch.lab.evaluation.measures.query_result import QueryResult, rank_query
from longmatch.lab.evaluation.measures.ranking import RankingMeasure, evaluate_run

__all__ = [
    "PAIR_DEFAULTS",
    "RANKING_DEFAULTS",
    "Measure",
    "PairMeasure",
    "PairPredictions",
    "QueryResult",
    "RankingMeasure",
    "best_threshold",
    "calibration_error",
    "evaluate_run",
    "parse",
    "parse_all",
    "rank_query",
]
