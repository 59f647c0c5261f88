"""The study's tables, against differences worked by hand."""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from longmatch.errors import LongmatchError
from longmatch.lab.evaluation.significance import Comparison
from longmatch.lab.reranking import rerankers
from longmatch.lab.reranking.candidates import CandidateLists
from longmatch.lab.reranking.study import LEARNT, ON_ALL, study, table
from tests.lab.reranking.made_lists import drawn, made_lists


@pytest.fixture
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boosting is quick; for tests that say nothing of it."""
    monkeypatch.setattr(rerankers, "TREES", 2)


def write(folder: Path, name: str, test: CandidateLists, train: CandidateLists | None = None) -> None:
    test.write(folder / f"{name}-test.npz")
    (train or drawn("words", queries=6)).write(folder / f"{name}-train.npz")


def write_scores(folder: Path, label: str, name: str, scores: Sequence[float]) -> None:
    (folder / "scores" / label).mkdir(parents=True, exist_ok=True)
    np.save(folder / "scores" / label / f"{name}-test.npy", np.array(scores, dtype=np.float32))


def dcg(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades))


def exact_p(differences: Sequence[float]) -> float:
    """The share of all signs that give as large a mean."""
    signed = [
        abs(sum(sign * each for sign, each in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return float(np.mean([value >= abs(sum(differences)) - 1e-9 for value in signed]))


@pytest.mark.usefixtures("few_trees")
def test_differences_and_p_are_those_of_a_hand_computation(tmp_path: Path) -> None:
    queries = range(6)
    answers = [{0: 2, 2: 1}, {1: 1}, {3: 1}, {0: 1, 3: 2}, {2: 1}, {1: 1, 5: 1}]  # place: grade; 5 is in no list
    lists = made_lists(dict.fromkeys(queries, range(4)), dict(zip(queries, answers, strict=True)))
    for name in ("one", "two"):
        write(tmp_path, name, lists)
    read = np.random.default_rng(3).normal(size=24).round(2)
    write_scores(tmp_path, "cross", "one", read.tolist())
    write_scores(tmp_path, "added-net", "one", (5 * read).tolist())
    rows = study(tmp_path, depth=3, weights=(0.2,))["one"]

    def gains(order) -> list[float]:
        found = []
        for query, right in enumerate(answers):
            grades = [right.get(place, 0) for place in order(read[4 * query : 4 * query + 3].tolist())]
            found.append(dcg(grades) / dcg(sorted(right.values(), reverse=True)))
        return found

    def ranks(values: Sequence[float]) -> list[int]:
        return [sum(other < value for other in values) for value in values]

    def falling(values: Sequence[float]) -> list[int]:
        return sorted(range(3), key=lambda place: -values[place])

    def summed(own: Sequence[float]) -> list[float]:
        return [5 * value - place for place, value in enumerate(own)]

    plain = gains(lambda own: range(3))
    assert rows["default"].difference == pytest.approx(np.mean(plain))
    orders = {
        "cross alone": falling,
        "cross and default": lambda own: falling([rank + 2 - place for place, rank in enumerate(ranks(own))]),
        "net alone": lambda own: falling(summed(own)),
        "net and default": lambda own: falling([rank + 2 - place for place, rank in enumerate(ranks(summed(own)))]),
        "default + 0.2 net": lambda own: falling([value - place for place, value in enumerate(own)]),
    }
    for row, order in orders.items():
        differences = [new - old for new, old in zip(gains(order), plain, strict=True)]
        assert rows[row].difference == pytest.approx(np.mean(differences)), row
        assert rows[row].p == pytest.approx(exact_p(differences), abs=0.02), row
        assert any(differences), row
    ideal = [dcg(sorted((right.get(place, 0) for place in range(3)), reverse=True)) for right in answers]
    best = [dcg(sorted(right.values(), reverse=True)) for right in answers]
    reached = np.mean([of / most for of, most in zip(ideal, best, strict=True)])
    assert rows["ideal order"].difference == pytest.approx(reached - np.mean(plain))


def test_a_row_is_trained_on_the_other_sets_alone_unless_it_says_so(tmp_path: Path) -> None:
    for name, deciding in (("one", "title"), ("two", "phrases")):
        write(tmp_path, name, drawn(deciding, queries=30, seed=1), drawn(deciding, queries=30))
    result = study(tmp_path, depth=30)
    assert list(result) == ["one", "two"]
    for rows in result.values():
        assert list(rows) == ["default", *(row + end for row in LEARNT for end in ("", ON_ALL)), "ideal order"]
        for row in LEARNT:
            assert rows[row].difference < 0.1
            assert rows[row + ON_ALL].difference > 0.3
            assert rows[row + ON_ALL].p < 0.01


def test_a_kind_of_evidence_is_used_in_the_rows_that_name_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path, name, drawn("best_section", queries=30, seed=1), drawn("best_section", queries=30))
    rows = study(tmp_path, depth=30)["one"]
    assert rows["regression on the sides"].difference < 0.1
    assert rows["regression, passages too"].difference > 0.3
    assert rows["boosting, passages too"].difference > 0.3


@pytest.mark.usefixtures("few_trees")
def test_documents_that_a_model_did_not_read_stay_behind_those_it_read(tmp_path: Path) -> None:
    lists = made_lists({0: range(4)}, {0: {2: 1}})
    for name in ("one", "two"):
        write(tmp_path, name, lists)
    write_scores(tmp_path, "cross", "one", [0.1, 0.2, -np.inf, -np.inf])
    rows = study(tmp_path, depth=4)["one"]
    assert rows["cross alone"].difference == rows["cross and default"].difference == 0


@pytest.mark.usefixtures("few_trees")
def test_a_set_with_test_lists_alone_is_left_out(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path, name, drawn("words", queries=6))
    drawn("words", queries=6).write(tmp_path / "three-test.npz")
    assert list(study(tmp_path, depth=10)) == ["one", "two"]


def test_one_set_alone_cannot_be_left_out(tmp_path: Path) -> None:
    write(tmp_path, "one", drawn("words", queries=3))
    with pytest.raises(LongmatchError, match="fewer than two sets"):
        study(tmp_path, depth=10)


def test_the_table_has_a_column_for_each_set_and_an_empty_cell_where_a_set_lacks_a_row() -> None:
    one = {"default": Comparison(0.357, 1.0), "cross alone": Comparison(-0.0123, 0.25)}
    assert table({"one": one, "two": {"default": Comparison(0.6, 1.0)}}, 40).splitlines() == [
        "| best 40 | one | two |",
        "|---|---:|---:|",
        "| default | 35.7 | 60.0 |",
        "| cross alone | -1.2 (0.2500) |  |",
    ]
