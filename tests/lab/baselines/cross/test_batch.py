"""Pairs of documents laid out in rows."""

import numpy as np
import torch

from longmatch.lab.baselines.cross.batch import CrossBatch, PairLayout
from longmatch.lab.baselines.cross.selection import Opening, SelectedSentences, Selection
from tests.lab.baselines.cross.tiny_cross import made_tokens

SIDES = [(np.array([7, 8, 9]), np.array([5])), (np.array([4]), np.array([3, 3])), (np.array([6]), np.array([6]))]


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
