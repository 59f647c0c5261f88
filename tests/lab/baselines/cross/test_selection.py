"""What is read of two documents."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.baselines.cross.selection import (
    Excerpt,
    FixedSelection,
    Opening,
    SelectedSentences,
    coverage,
    merge_excerpts,
)
from tests.lab.baselines.cross.tiny_cross import made_tokens

LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=12)


@given(LENGTHS, LENGTHS, st.integers(1, 40))
def test_the_opening_is_the_first_tokens_of_either_document(first, second, limit):
    a, b = made_tokens(*first), made_tokens(*second)
    (chosen,) = Opening().choose(a, b, limit, [0], seed=0)
    for tokens, numbers in ((a, chosen.a), (b, chosen.b)):
        excerpt = Excerpt.of(tokens, numbers, limit)
        assert excerpt.ids(tokens).tolist() == tokens.ids[:limit].tolist()
        assert len(excerpt) == len(numbers)


def test_the_opening_is_the_same_in_every_view_and_for_every_seed():
    a, b = made_tokens(3, 4), made_tokens(5)
    views = [*Opening().choose(a, b, 5, [0, 1, 2], 0), *Opening().choose(a, b, 5, [0], 7)]
    assert [(one.a.tolist(), one.b.tolist()) for one in views] == [([0, 1], [0])] * 4


class Last(FixedSelection):
    """The last sentence of either document; counts how often it was looked for."""

    def select(self, a, b, limit):
        LOOKED_FOR.append(limit)
        return SelectedSentences(*(np.array([len(tokens.sentence_offsets) - 2]) for tokens in (a, b)))


LOOKED_FOR: list[int] = []


def test_a_fixed_selection_is_made_once_for_a_pair_in_an_order_and_a_limit():
    a, b, selection = made_tokens(3, 4), made_tokens(5), Last()
    LOOKED_FOR.clear()
    for one, other, limit in ((a, b, 5), (a, b, 5), (b, a, 5), (a, b, 6), (made_tokens(3, 4), b, 5)):
        chosen = selection.choose(one, other, limit, [0, 1], seed=limit)
        ends = [len(tokens.sentence_offsets) - 2 for tokens in (one, other)]
        assert [(view.a.tolist(), view.b.tolist()) for view in chosen] == [([ends[0]], [ends[1]])] * 2
    assert LOOKED_FOR == [5, 5, 6]


@given(LENGTHS, st.data(), st.integers(1, 40))
def test_an_excerpt_holds_its_sentences_in_order_up_to_the_limit(lengths, data, limit):
    tokens = made_tokens(*lengths)
    numbers = sorted(data.draw(st.sets(st.integers(0, len(lengths) - 1), min_size=1)))
    wanted = [id for n in numbers for id in tokens.ids[tokens.sentence_offsets[n] : tokens.sentence_offsets[n + 1]]]
    excerpt = Excerpt.of(tokens, np.array(numbers), limit)
    assert excerpt.ids(tokens).tolist() == wanted[:limit]
    assert (excerpt.lengths > 0).all()


def test_an_excerpt_without_a_sentence_keeps_the_others():
    tokens = made_tokens(2, 3, 4)
    excerpt = Excerpt.of(tokens, np.array([0, 1, 2]), 8).without(1)
    assert excerpt.ids(tokens).tolist() == [100, 101, 105, 106, 107]
    assert excerpt.numbers.tolist() == [0, 2]


def test_excerpts_join_to_what_any_of_them_reads():
    tokens = made_tokens(4, 4, 4)
    one, other = Excerpt.of(tokens, np.array([0, 2]), 6), Excerpt.of(tokens, np.array([1, 2]), 7)
    both = merge_excerpts([one, other])
    assert both.numbers.tolist() == [0, 1, 2]
    assert both.lengths.tolist() == [4, 4, 3]
    assert coverage(tokens, [one, other]) == pytest.approx(11 / 12)
    assert coverage(tokens, [one]) == pytest.approx(0.5)
