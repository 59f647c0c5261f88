"""Lists of a query's best documents, and weights learnt from them."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.lab.default.side_scorer import SideScorer
from longmatch.lab.default.weighing import DEPTH, SIDES, WORDS_SHARE, Lists, fit, lists_of, transformed, worth
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures.answers import find_answers
from longmatch.lab.evaluation.measures.ranking import nDCG
from longmatch.lab.store.store import LayerStore


def drawn(deciding: int, queries: int = 40, documents: int = 30) -> Lists:
    """Lists in which one side tells the two answers of a query, and the others tell nothing."""
    rng = np.random.default_rng(0)
    sides = rng.random((queries * documents, len(SIDES))).astype(np.float32)
    grades = np.zeros(queries * documents, dtype=np.int64)
    offsets = np.arange(0, queries * documents + 1, documents)
    for start, end in itertools.pairwise(offsets):
        grades[start + np.argsort(-sides[start:end, deciding])[:2]] = 1
    wanted = np.tile([1, 1] + [0] * (DEPTH - 2), (queries, 1))
    lengths, trust = np.ones((len(sides), 2), dtype=np.float32), np.ones(len(SIDES), dtype=np.float32)
    return Lists(sides, grades, offsets, wanted, lengths, trust)


@pytest.mark.parametrize("deciding", [1, 2])
def test_the_side_that_decides_gets_the_weight(deciding: int) -> None:
    lists = drawn(deciding)
    weights = fit([lists], [1, 2])
    assert np.argmax(weights) == deciding - 1
    assert worth(lists, [1, 2], weights) > 0.95
    assert worth(lists, [3 - deciding], np.ones(1, dtype=np.float32)) < 0.5


def test_words_weigh_a_share_of_what_phrases_weigh_and_by_themselves_what_they_are_worth() -> None:
    lists = drawn(0)
    words, phrases, _ = fit([lists], [0, 1, 2])
    assert words == pytest.approx(WORDS_SHARE * phrases)
    assert worth(lists, [0], fit([lists], [0])) > 0.95


def test_its_worth_is_the_ndcg_of_the_evaluation() -> None:
    lists = drawn(0, queries=5)
    weights = np.array([0.3, 1.0], dtype=np.float32)
    scores = transformed(lists, [0, 1]) @ weights
    expected = []
    for start, end in zip(lists.offsets[:-1], lists.offsets[1:], strict=True):
        grades = {str(i): int(g) for i, g in enumerate(lists.grades[start:end])}
        answers = find_answers(grades, {str(i): float(s) for i, s in enumerate(scores[start:end])})
        expected.append(float(nDCG(DEPTH).each([answers])[0]))
    assert worth(lists, [0, 1], weights) == pytest.approx(np.mean(expected), abs=1e-6)


def test_lists_hold_the_best_of_every_finding_side_and_come_back_from_disk(
    matcher: HybridMatcher, example_corpus: Corpus, tmp_path: Path
) -> None:
    scorer = SideScorer(matcher)
    scorer.open(LayerStore.of(tmp_path, example_corpus.source).build(scorer.layers), example_corpus)
    lists = lists_of(example_corpus, scorer, "test", limit=3)
    assert len(lists) == 3
    assert lists.offsets[-1] == len(lists.sides) == len(lists.grades)
    answers = example_corpus.folder.qrels("test")
    assert {int(w.sum()) for w in lists.wanted} <= {sum(sorted(g.values())[-DEPTH:]) for g in answers.values()}
    lists.write(tmp_path / "lists.npz")
    again = Lists.read(tmp_path / "lists.npz")
    assert all(np.array_equal(value, getattr(again, name)) for name, value in vars(lists).items())
