"""Batches by a budget of tokens."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from longmatch.encoders.engine import token_batches

LENGTHS = st.lists(st.integers(0, 60), max_size=50).map(lambda lengths: np.array(lengths, dtype=np.int64))
BUDGETS = st.integers(1, 200)


@given(LENGTHS, BUDGETS)
def test_every_piece_is_in_one_batch(lengths, budget):
    found = [int(i) for batch in token_batches(lengths, budget) for i in batch]
    assert sorted(found) == list(range(len(lengths)))


@given(LENGTHS, BUDGETS)
def test_a_batch_with_its_padding_stays_within_the_budget_unless_it_is_one_piece(lengths, budget):
    for batch in token_batches(lengths, budget):
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= budget


@given(LENGTHS, BUDGETS)
def test_the_longest_pieces_come_first_and_equals_keep_their_order(lengths, budget):
    order = [int(i) for batch in token_batches(lengths, budget) for i in batch]
    assert order == sorted(range(len(lengths)), key=lambda i: (-lengths[i], i))
