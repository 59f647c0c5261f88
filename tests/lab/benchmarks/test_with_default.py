"""What a model adds to the default: the mean of both ranks, from the stored runs."""

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, roc_auc_score

from longmatch.lab.benchmarks.stored_results import ResultGroup
from longmatch.lab.benchmarks.with_default import lines
from tests.lab.evaluation.test_result_rows import LABELS, run

DEFAULT, MODEL = run("default"), [run("cross steps=9", seed) for seed in (1, 2)]
GROUP = ResultGroup("set", "test", runs=[DEFAULT, *MODEL, run("other")])


def scores(found) -> np.ndarray:
    return found.verdicts.scores


def test_a_row_has_the_model_alone_and_with_the_default_as_the_mean_over_its_seeds() -> None:
    *_, head, rule, first, second, end = lines(GROUP, {"Cross": ["cross steps=9"], "Missing": ["none"]})
    assert head.count("|") == rule.count("|") == first.count("|") == second.count("|") and end == ""
    cells = [cell.strip() for cell in second.strip("| ").split("|")]
    for place, measure in ((1, average_precision_score), (5, roc_auc_score)):
        alone = np.mean([measure(LABELS, scores(each)) for each in MODEL])
        both = np.mean([measure(LABELS, rankdata(scores(each)) + rankdata(scores(DEFAULT))) for each in MODEL])
        assert [float(cells[place]), float(cells[place + 1])] == pytest.approx([100 * alone, 100 * both], abs=0.051)
    assert cells[0] == "Cross" and cells[-1] == "2"


def test_the_default_stands_first_with_its_own_values() -> None:
    first = lines(GROUP, {"Cross": ["cross steps=9"]})[4]
    assert first.startswith(f"| default | {100 * average_precision_score(LABELS, scores(DEFAULT)):.1f} |")
