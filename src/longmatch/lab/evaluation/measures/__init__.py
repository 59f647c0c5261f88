"""Measures as objects with a name and parameters: `nDCG@10`, `MRR`, `MPR`, `HR@10`, `F1`, ..."""

from longmatch.lab.evaluation.measures.answers import Answers, find_answers
from longmatch.lab.evaluation.measures.pairs import PairMeasure, Verdicts, best_threshold, calibration_error
from longmatch.lab.evaluation.measures.parse import PAIR_DEFAULTS, RANKING_DEFAULTS, Measure, parse, parse_all
from longmatch.lab.evaluation.measures.ranking import RankingMeasure, evaluate_run

__all__ = [
    "PAIR_DEFAULTS",
    "RANKING_DEFAULTS",
    "Answers",
    "Measure",
    "PairMeasure",
    "RankingMeasure",
    "Verdicts",
    "best_threshold",
    "calibration_error",
    "evaluate_run",
    "find_answers",
    "parse",
    "parse_all",
]
