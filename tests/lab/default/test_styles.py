"""The style of a kind of text, learnt from its documents."""

import numpy as np
import pytest

from longmatch.default.kinds import root_frequencies
from longmatch.lab.default import styles
from longmatch.lab.default.styles import APART, HELD_OUT, WITHIN, common_words, fit_style
from longmatch.lexical.frequencies import Frequencies
from tests.default.test_kinds import WORDS, drawn, usual


def test_common_words_are_those_of_most_documents_whatever_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(styles, "COMMON_WORDS", 3)
    ids = np.array([2, 3, 5, 8, 9], dtype=np.uint64)
    assert common_words(Frequencies(1.0, ids, np.array([0.2, 0.9, 0.5, 0.5, 1.0]))).tolist() == [3, 5, 9]


def test_deviations_are_independent_of_each_other_and_of_spread_1() -> None:
    documents = drawn(usual(1), 2_000, 1)
    style = fit_style(WORDS, documents)
    found = style.deviations(*root_frequencies(WORDS, drawn(usual(1), 2_000, 2)))
    assert np.abs(found.mean(axis=0)).max() < 0.15
    assert np.cov(found.T) == pytest.approx(np.eye(len(WORDS)), abs=0.3)


def test_most_documents_that_it_was_not_learnt_from_are_within_its_limits() -> None:
    documents = drawn(usual(1), 1_200, 1)
    style = fit_style(WORDS, documents)
    frequencies, words = root_frequencies(WORDS, documents[::HELD_OUT])
    within = np.linalg.norm(style.deviations(frequencies, words), axis=1) <= style.range
    assert within.mean() == pytest.approx(WITHIN, abs=0.01)
    pairs = style.of_kind(frequencies, words)
    assert pairs[np.triu_indices(len(words), 1)].mean() == pytest.approx(WITHIN**2 * APART, abs=0.03)


def test_short_documents_count_like_long_ones() -> None:
    style = fit_style(WORDS, drawn(usual(1), 1_200, 1))
    lengths = [
        [np.linalg.norm(style.deviations(*root_frequencies(WORDS, [each]))[0]) for each in part] for part in halves()
    ]
    assert np.median(lengths[0]) == pytest.approx(np.median(lengths[1]), rel=0.25)


def halves():
    """The shorter and the longer half of some documents."""
    documents = sorted(drawn(usual(1), 200, 3), key=lambda counts: counts.counts.sum())
    return documents[:100], documents[100:]
