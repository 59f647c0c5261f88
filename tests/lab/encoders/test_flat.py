"""Flat pieces give back what they hold, padded by length, and fall into groups within a budget."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.flat import CPU_BUDGET, FlatTokens, groups_within, mean_pool

PIECES = st.lists(st.lists(st.integers(5, 50), max_size=300).map(np.array), min_size=1, max_size=12)


@given(PIECES)
def test_every_piece_is_read_once_between_its_start_and_end_tokens(pieces):
    flat = FlatTokens.of([piece.astype(np.int64) for piece in pieces], (1, 2))
    seen = {}
    for rows, places, mask in flat.by_length():
        assert len(rows) == 1 or mask.numel() <= CPU_BUDGET
        for row, place, real in zip(rows.tolist(), places, mask, strict=True):
            seen[row] = flat.ids[place[real]].tolist()
    assert seen == {i: [1, *piece.tolist(), 2] for i, piece in enumerate(pieces)}


@given(PIECES, st.data())
def test_a_run_of_pieces_is_those_pieces(pieces, data):
    flat = FlatTokens.of(pieces, (1, 2))
    first = data.draw(st.integers(0, len(pieces) - 1))
    last = data.draw(st.integers(first + 1, len(pieces)))
    part, same = flat.between(first, last), FlatTokens.of(pieces[first:last], (1, 2))
    assert part.ids.tolist() == same.ids.tolist() and part.lengths.tolist() == same.lengths.tolist()


@given(PIECES)
def test_each_piece_has_its_own_vector_whichever_are_read_together(pieces):
    flat = FlatTokens.of(pieces, (1, 2))
    found = flat.encode_each(lambda ids, mask, rows: torch.stack([ids.sum(1), mask.sum(1), rows], dim=1))
    assert found.tolist() == [[piece.sum() + 3, len(piece) + 2, i] for i, piece in enumerate(pieces)]


@given(PIECES, st.integers(1, 900))
def test_groups_are_runs_of_pieces_within_the_budget(pieces, budget):
    flat = FlatTokens.of(pieces, (1, 2))
    groups = list(flat.groups(budget))
    assert torch.cat([group.ids for group in groups]).tolist() == flat.ids.tolist()
    assert all(len(group) == 1 or group.tokens <= budget for group in groups)


@given(st.lists(st.integers(1, 20), max_size=20), st.integers(1, 30))
def test_groups_cover_all_in_order_and_keep_to_the_budget(lengths, budget):
    groups = list(groups_within(torch.tensor(lengths, dtype=torch.long), budget))
    assert [i for first, last in groups for i in range(first, last)] == list(range(len(lengths)))
    assert all(last - first == 1 or sum(lengths[first:last]) <= budget for first, last in groups)
    assert all(sum(lengths[first : last + 1]) > budget for first, last in groups[:-1])  # one more would be too many


def test_the_mean_is_that_of_the_backbones_own_vectors(tiny_bert):
    backbone = TorchBackbone.load(str(tiny_bert), device="cpu")
    pieces = [np.arange(10, 10 + n) for n in (3, 17, 8)]
    flat = FlatTokens.of(pieces, (backbone.first_token, backbone.last_token))
    found = torch.zeros(3, backbone.width)
    with torch.no_grad():
        for rows, places, mask in flat.by_length():
            hidden = backbone.model(input_ids=flat.ids[places], attention_mask=mask).last_hidden_state
            found[rows] = mean_pool(hidden, mask)
    unit = torch.nn.functional.normalize(found, dim=1)
    assert np.abs(unit.numpy() - backbone.encode(pieces)).max() < 1e-5
