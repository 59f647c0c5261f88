"""Reranking the default's best documents: a start at its own order, and what can be learnt beyond it."""

import numpy as np
import pytest
import torch

from longmatch.default.sides import NAMES
from longmatch.errors import LongmatchError
from longmatch.lab.default.reranking import BestDocuments, compare, fit_boosting, fit_regression, main
from longmatch.lab.default.weights import log_sides, ndcg, write_weights
from tests.lab.default.test_weights import drawn

WORDS = np.array([float(name == "words") for name in NAMES])


def test_before_anything_is_learnt_the_order_is_the_default_s() -> None:
    lists = drawn("phrases")
    best = BestDocuments.of(lists, WORDS, depth=30)
    assert best.ndcg(best.scores) == pytest.approx(ndcg(lists, ["words"], np.ones(1, dtype=np.float32)))
    held = fit_regression([best], penalty=1e6)
    assert torch.equal(held(best).argsort(1, descending=True), best.scores.argsort(1, descending=True))


def test_only_the_best_documents_are_ordered_again() -> None:
    lists = drawn("phrases", queries=6)
    best = BestDocuments.of(lists, WORDS, depth=10)
    scores = log_sides(lists, NAMES) @ WORDS
    first = np.argsort(-scores[:30], kind="stable")[:10]
    assert best.grades[0].tolist() == lists.grades[first].tolist()
    assert best.listed.all()
    longer = BestDocuments.of(lists, WORDS, depth=50)
    assert longer.listed.sum(1).tolist() == [30] * 6


@pytest.mark.parametrize("fit", [lambda sets: fit_regression(sets, 1e-2), fit_boosting])
def test_a_side_that_the_default_ignores_is_found(fit) -> None:
    best = BestDocuments.of(drawn("phrases"), WORDS, depth=30)
    gained = compare(best, fit([best]))
    assert gained.difference > 0.2
    assert gained.p < 0.01


def test_the_study_prints_what_each_reranker_gains_on_the_set_left_out(tmp_path, capsys) -> None:
    for name in ("one", "two"):
        for split in ("train", "test"):
            drawn("words", queries=12).write(tmp_path / f"{name}-{split}.npz")
    write_weights(tmp_path, ["words"])
    main([str(tmp_path), "--depths", "10"])
    table = capsys.readouterr().out
    assert table.startswith("| best 10 | one | two |")
    assert "| default | 100.0 | 100.0 |" in table  # words decide here, and the default has learnt so


def test_one_set_alone_cannot_be_left_out(tmp_path) -> None:
    drawn("words", queries=3).write(tmp_path / "one-train.npz")
    with pytest.raises(LongmatchError, match="fewer than two sets"):
        main([str(tmp_path)])
