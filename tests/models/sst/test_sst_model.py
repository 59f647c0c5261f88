"""SST's two heads: a dual encoder reads the cross-encoder's rows, but either document alone."""

import pytest
import torch

from longmatch.models.cross.batch import CrossBatch
from longmatch.models.cross.reading import Reader, layout, margins, read
from longmatch.models.cross.selection import Opening
from longmatch.models.sst.model import SstModel, apart

from ..cross.tiny_cross import enlarge

SIDES = [([7, 8, 9, 10], [11]), ([12], [13, 14, 15]), ([16, 17], [18, 19])]


@pytest.fixture(scope="module")
def model(tiny_bert):
    torch.manual_seed(0)
    made = SstModel.from_backbone(str(tiny_bert), head="dual", loss_temperature=0.1, side_tokens=500).eval()
    enlarge(made, 0.3)
    return made


@pytest.fixture(scope="module")
def batch():
    return CrossBatch.of([tuple(torch.tensor(side).numpy() for side in pair) for pair in SIDES], (2, 3))


def alone(model, ids):
    """What the backbone makes of one document."""
    return model.backbone(input_ids=torch.tensor([[2, *ids, 3]]), output_hidden_states=True)


def test_rows_come_apart_whatever_their_lengths():
    longest = 8
    ids, second = torch.zeros(3, longest, dtype=torch.long), torch.zeros(3, longest, dtype=torch.long)
    for row, (a, b) in enumerate(SIDES):
        whole = [2, *a, 3, *b, 3]
        ids[row, : len(whole)] = torch.tensor(whole)
        second[row, len(a) + 2 :] = 1
    found, mask = apart(ids, ids > 0, second)
    wanted = [[2, *a, 3] for a, _ in SIDES] + [[2, *b, 3] for _, b in SIDES]
    assert [row[real].tolist() for row, real in zip(found, mask, strict=True)] == wanted
    assert (found[~mask] == 0).all()


@torch.no_grad()
def test_the_dual_margin_is_the_cosine_of_both_means_over_the_temperature(model, batch):
    found = margins(model, batch)
    for margin, sides in zip(found, SIDES, strict=True):
        a, b = (alone(model, ids).last_hidden_state[0].mean(0) for ids in sides)
        assert margin.item() == pytest.approx((torch.cosine_similarity(a, b, dim=0).item() - 0.5) / 0.1, abs=1e-4)


@torch.no_grad()
def test_the_dual_vectors_of_a_pair_are_both_documents_side_by_side(model, batch):
    found = read(model, batch).vectors
    for row, sides in zip(found, SIDES, strict=True):
        wanted = torch.cat([alone(model, ids).last_hidden_state[0].mean(0) for ids in sides])
        torch.testing.assert_close(row, wanted, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_the_dual_states_of_tokens_know_nothing_of_the_other_document(model):
    reader = Reader(model, layout(model, Opening(), (2, 3)))
    a, b = (torch.tensor(side).numpy() for side in SIDES[0])
    for states, ids in zip(reader.states((a, b)), SIDES[0], strict=True):
        wanted = torch.stack(alone(model, ids).hidden_states).mean(0)[0, 1:-1]
        torch.testing.assert_close(states, wanted, atol=1e-5, rtol=1e-4)


def test_a_dual_encoder_has_all_places_for_one_document(model, tiny_bert):
    assert model.side_limit == 62 and SstModel.from_backbone(str(tiny_bert)).side_limit == 30


def test_the_dual_encoder_learns_with_its_backbone_alone(model):
    names = {name.partition(".")[0] for name, weight in model.named_parameters() if weight.requires_grad}
    assert names == {"backbone"}
