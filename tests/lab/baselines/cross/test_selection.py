"""What is read of two documents."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.baselines.cross.selection import (
    CrossBatch,
    Excerpt,
    FixedSelection,
    Opening,
    PairLayout,
    SelectedSentences,
    Selection,
    coverage,
    merge_excerpts,
)
from tests.lab.baselines.cross.tiny_cross import made_tokens

LENGTHS = st.lists(st.integers(1, 9), min_size=1, max_size=12)
SIDES = [(np.array([7, 8, 9]), np.array([5])), (np.array([4]), np.array([3, 3])), (np.array([6]), np.array([6]))]


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


class EachInTurn(Selection):
    """View v reads sentence v of both documents."""

    def choose(self, a, b, limit, views, seed):
        return [SelectedSentences(np.array([view]), np.array([view])) for view in views]


def test_a_row_is_both_documents_between_special_tokens():
    batch = CrossBatch.of(SIDES, (1, 2))
    rows = [ids.tolist() for ids in batch.text.ids.split(batch.text.lengths.tolist())]
    assert rows == [[1, 7, 8, 9, 2, 5, 2], [1, 4, 2, 3, 3, 2], [1, 6, 2, 6, 2]]
    assert len(batch) == 3 and batch.tokens == 18


def test_the_second_documents_tokens_are_of_the_second_type_and_padding_of_none():
    batch = CrossBatch.of(SIDES, (1, 2))
    for rows, places, mask in batch.text.by_length():
        types = batch.types(rows, mask)
        for row, ids, own, real in zip(rows.tolist(), batch.text.ids[places], types, mask, strict=True):
            assert ids[own].tolist() == [*SIDES[row][1].tolist(), 2]
            assert not own[~real].any()


def test_groups_hold_all_rows_within_the_budget():
    batch = CrossBatch.of(SIDES, (1, 2))
    groups = list(batch.groups(12))
    assert [len(group) for group in groups] == [1, 2]
    assert torch.equal(torch.cat([group.text.ids for group in groups]), batch.text.ids)
    assert torch.equal(torch.cat([group.second for group in groups]), batch.second)


def test_a_pairs_views_stand_one_after_another():
    pairs = [(made_tokens(2, 1), made_tokens(1, 2)), (made_tokens(1, 1), made_tokens(1, 1))]
    batch = PairLayout(EachInTurn(), 5, (1, 2)).lay_out(pairs, [0, 1])
    rows = [ids.tolist() for ids in batch.text.ids.split(batch.text.lengths.tolist())]
    assert rows == [[1, 100, 101, 2, 100, 2], [1, 102, 2, 101, 102, 2], [1, 100, 2, 100, 2], [1, 101, 2, 101, 2]]


def test_no_side_is_longer_than_the_limit():
    batch = PairLayout(Opening(), 4, (1, 2)).lay_out([(made_tokens(3, 9), made_tokens(20))], [0])
    assert batch.text.ids.tolist() == [1, 100, 101, 102, 103, 2, 100, 101, 102, 103, 2]
