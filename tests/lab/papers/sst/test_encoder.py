"""SST's two heads: a dual encoder reads the cross-encoder's rows, but either document alone."""

import pytest
import torch

from longmatch.lab.baselines.cross.encoder import margins, read
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.selection import CrossBatch
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.sst.encoder import SstModel, split_sides
from tests.lab.baselines.cross.tiny_cross import enlarge

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
    found, mask = split_sides(ids, ids > 0, second)
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
def test_dual_vectors_read_without_padding_are_those_of_padded_rows(model, batch, monkeypatch):
    found = []
    for packed in ("0", "1"):
        monkeypatch.setenv("LONGMATCH_PACKED", packed)
        with torch.no_grad():
            found.append(read(model, batch).vectors)
    torch.testing.assert_close(found[0], found[1], atol=1e-5, rtol=1e-4)


def test_the_dual_states_of_tokens_know_nothing_of_the_other_document(model, tiny_bert):
    reader = CrossMatcher(model, open_tokenizer(str(tiny_bert)), "float32")
    a, b = (torch.tensor(side).numpy() for side in SIDES[0])
    for states, ids in zip(reader.states((a, b)), SIDES[0], strict=True):
        wanted = torch.stack(alone(model, ids).hidden_states).mean(0)[0, 1:-1]
        torch.testing.assert_close(states, wanted, atol=1e-5, rtol=1e-4)


def test_a_dual_encoder_has_all_places_for_one_document(model, tiny_bert):
    assert model.side_limit == 62 and SstModel.from_backbone(str(tiny_bert)).side_limit == 30


def test_the_dual_encoder_learns_with_its_backbone_alone(model):
    names = {name.partition(".")[0] for name, weight in model.named_parameters() if weight.requires_grad}
    assert names == {"backbone"}


VIEWS = [([7, 8, 9, 10], [11]), ([12], [13, 14, 15]), ([16, 17], [18, 19]), ([20, 21], [22]), ([23], [24]), ([25], [7])]


def attentive(tiny_bert, **settings):
    torch.manual_seed(0)
    made = SstModel.from_backbone(str(tiny_bert), attention=True, side_tokens=20, **settings).eval()
    enlarge(made, 0.3)
    return made


def rows_of(sides, joined):
    return CrossBatch.of([tuple(torch.tensor(side).numpy() for side in pair) for pair in sides], (2, 3), joined)


@torch.no_grad()
@pytest.mark.parametrize("head", ["cross", "dual"])
def test_attention_joins_the_views_of_a_pair_with_the_weights_softmax_h_w_v(tiny_bert, head):
    model = attentive(tiny_bert, head=head)
    found = read(model, rows_of(VIEWS, 3))
    each = read(model, rows_of(VIEWS, 1)).vectors
    assert model.joined_views == 3 and found.logits.shape == (2, 2)
    for pair in (0, 1):
        wanted = []
        for side in each[3 * pair : 3 * pair + 3].chunk(2 if head == "dual" else 1, dim=1):
            scores = torch.stack([h @ model.projection.weight.T @ model.question.weight[0] for h in side])
            weights = scores.exp() / scores.exp().sum()
            assert weights.max() > 0.4
            wanted.append(sum(weight * h for weight, h in zip(weights, side, strict=True)))
        torch.testing.assert_close(found.vectors[pair], torch.cat(wanted), atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_a_pair_whose_views_are_joined_is_never_cut_apart_and_is_the_same_alone(tiny_bert):
    model = attentive(tiny_bert)
    whole = rows_of(VIEWS, 3)
    parts = list(whole.groups(1))
    assert [len(part) for part in parts] == [3, 3] and len(list(whole.groups(10**6))) == 1
    together, alone = margins(model, whole), torch.cat([margins(model, part) for part in parts])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-4)


def test_only_the_variant_with_attention_has_its_weights(tiny_bert):
    names = {name.partition(".")[0] for name, _ in attentive(tiny_bert).named_parameters()}
    assert names == {"backbone", "pooler", "classifier", "projection", "question"}
    plain = SstModel.from_backbone(str(tiny_bert))
    assert plain.joined_views == 1 and not hasattr(plain, "question")
