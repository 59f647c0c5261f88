"""Weights learnt from lists of queries' best documents, and what they are worth."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.sides import NAMES
from longmatch.errors import LongmatchError
from longmatch.lab.default.features import DEPTH, FLOORS, QueryLists
from longmatch.lab.default.pipeline import write_report
from longmatch.lab.default.weights import TIED, fit_weights, log_sides, ndcg, read_weights, write_weights
from longmatch.lab.evaluation.measures import nDCG, rank_query


def drawn(deciding: str, queries: int = 40, documents: int = 30) -> QueryLists:
    """Lists in which one side tells the two answers of a query, and the others tell nothing."""
    rng = np.random.default_rng(0)
    sides = rng.random((queries * documents, len(NAMES))).astype(np.float32)
    grades = np.zeros(queries * documents, dtype=np.int64)
    offsets = np.arange(0, queries * documents + 1, documents)
    for start, end in itertools.pairwise(offsets):
        grades[start + np.argsort(-sides[start:end, NAMES.index(deciding)])[:2]] = 1
    wanted = np.tile([1, 1] + [0] * (DEPTH - 2), (queries, 1))
    lengths, trust = np.ones((len(sides), 2), dtype=np.float32), np.ones(len(NAMES), dtype=np.float32)
    return QueryLists(sides, grades, offsets, wanted, lengths, trust)


@pytest.mark.parametrize(("deciding", "other"), [("phrases", "title"), ("title", "phrases")])
def test_the_side_that_decides_gets_the_weight(deciding: str, other: str) -> None:
    lists = drawn(deciding)
    weights = fit_weights([lists], ["phrases", "title"])
    assert np.argmax(weights) == ["phrases", "title"].index(deciding)
    assert ndcg(lists, ["phrases", "title"], weights).mean() > 0.95
    assert ndcg(lists, [other], np.ones(1, dtype=np.float32)).mean() < 0.5


@pytest.mark.parametrize("side", TIED)
def test_words_and_meaning_weigh_a_share_of_phrases_and_by_themselves_what_they_are_worth(side: str) -> None:
    lists = drawn(side)
    weights = dict(zip(sides := ["words", "phrases", "meaning"], fit_weights([lists], sides), strict=True))
    assert weights[side] == pytest.approx(TIED[side] * weights["phrases"])
    assert ndcg(lists, [side], fit_weights([lists], [side])).mean() > 0.95


def test_its_worth_is_the_ndcg_of_the_evaluation() -> None:
    lists = drawn("words", queries=5)
    sides, weights = ["words", "phrases"], np.array([0.3, 1.0], dtype=np.float32)
    scores = log_sides(lists, sides) @ weights
    expected = []
    for start, end in itertools.pairwise(lists.offsets):
        grades = {str(i): int(g) for i, g in enumerate(lists.grades[start:end])}
        answers = rank_query(grades, {str(i): float(s) for i, s in enumerate(scores[start:end])})
        expected.append(float(nDCG(DEPTH).each([answers])[0]))
    assert ndcg(lists, sides, weights) == pytest.approx(expected, abs=1e-6)


def test_weights_are_written_for_all_sides_and_reported_with_each_set_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LongmatchError, match="holds no lists of training queries"):
        write_weights(tmp_path)
    for name, deciding in (("first", "meaning"), ("second", "phrases")):
        for split in ("train", "validation", "test"):
            drawn(deciding, queries=8).write(tmp_path / f"{name}-{split}.npz")
    write_weights(tmp_path, ["phrases", "meaning"])
    scales = read_weights(tmp_path)
    assert {side for side, scale in scales.items() if scale.weight} == {"phrases", "meaning"}
    assert {side: scale.floor for side, scale in scales.items()} == FLOORS
    assert list(json.loads((tmp_path / "weights.json").read_text())) == list(NAMES)
    write_report(tmp_path, ["phrases", "meaning"])
    printed = capsys.readouterr().out
    assert "nDCG@10, validation queries" in printed and "nDCG@10, test queries" in printed
    assert "learnt on the others" in printed and "calibration" not in printed
