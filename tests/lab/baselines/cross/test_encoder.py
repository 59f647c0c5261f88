"""The network that reads two documents together."""

import numpy as np
import pytest
import torch
from transformers import AutoModel, BertForSequenceClassification, DistilBertConfig

from longmatch.lab.baselines.cross.encoder import (
    CrossConfig,
    CrossModel,
    margins,
    match_probabilities,
    read,
)
from longmatch.lab.baselines.cross.selection import CrossBatch
from tests.lab.baselines.cross.tiny_cross import tiny_cross

RNG = np.random.default_rng(0)
SIDES = [(RNG.integers(5, 700, a), RNG.integers(5, 700, b)) for a, b in ((9, 4), (3, 20), (14, 14), (1, 1), (9, 5))]


@pytest.fixture(scope="module")
def model(tiny_bert):
    return tiny_cross(tiny_bert)


def test_it_is_berts_own_pair_classification(model, tiny_bert):
    judge = BertForSequenceClassification.from_pretrained(str(tiny_bert)).eval()
    state = {f"bert.{name}": weight for name, weight in model.backbone.state_dict().items()}
    state |= {f"bert.pooler.dense.{name}": weight for name, weight in model.pooler.state_dict().items()}
    state |= {f"classifier.{name}": weight for name, weight in model.classifier.state_dict().items()}
    judge.load_state_dict(state)
    ids = torch.randint(5, 700, (2, 11))
    types = torch.tensor([[0] * 5 + [1] * 6] * 2)
    with torch.no_grad():
        wanted = judge(input_ids=ids, token_type_ids=types).logits
        found = model(ids, torch.ones_like(ids), types)
    torch.testing.assert_close(found.logits, wanted, atol=1e-5, rtol=1e-4)
    assert found.vectors.shape == (2, model.width)


def test_rows_are_read_alike_together_and_alone(model):
    with torch.no_grad():
        together = read(model, CrossBatch.of(SIDES, (2, 3)))
        alone = [read(model, CrossBatch.of([side], (2, 3))) for side in SIDES]
    torch.testing.assert_close(together.logits, torch.cat([one.logits for one in alone]), atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(together.vectors, torch.cat([one.vectors for one in alone]), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("readout", ["pooler", "mean"])
def test_rows_read_without_padding_have_the_vectors_of_padded_ones(tiny_bert, readout, monkeypatch):
    model, found = tiny_cross(tiny_bert, readout=readout), []
    for packed in ("0", "1"):
        monkeypatch.setenv("LONGMATCH_PACKED", packed)
        with torch.no_grad():
            found.append(read(model, CrossBatch.of(SIDES, (2, 3))))
    torch.testing.assert_close(found[0].vectors, found[1].vectors, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found[0].logits, found[1].logits, atol=1e-5, rtol=1e-4)


def test_a_margin_is_the_difference_of_the_two_logits(model):
    batch = CrossBatch.of(SIDES, (2, 3))
    with torch.no_grad():
        logits = read(model, batch).logits.double()
    torch.testing.assert_close(margins(model, batch), logits[:, 1] - logits[:, 0])


def test_which_document_a_token_is_of_matters_where_the_backbone_has_types(model):
    ids = torch.randint(5, 600, (1, 9))
    sizes = {"vocab_size": 700, "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 16}
    plain = CrossModel(CrossConfig(backbone=DistilBertConfig(**sizes).to_dict())).eval()
    for one, has in ((model, True), (plain, False)):
        with torch.no_grad():
            first, second = (one(ids, torch.ones_like(ids), torch.full_like(ids, kind)).logits for kind in (0, 1))
        assert torch.allclose(first, second) is not has


def test_two_sides_and_the_special_tokens_fit_the_backbones_places(tiny_bert, tiny_roberta):
    for folder in (tiny_bert, tiny_roberta):  # both have 64 places
        assert tiny_cross(folder).side_limit == 30
        assert tiny_cross(folder, side_tokens=12).side_limit == 12


def test_it_begins_with_the_backbones_weights_and_pooler(tiny_bert):
    backbone, model = AutoModel.from_pretrained(str(tiny_bert)), CrossModel.from_backbone(str(tiny_bert))
    assert torch.equal(model.pooler.weight, backbone.pooler.dense.weight)
    own = model.backbone.state_dict()
    assert all(torch.equal(own[name], weight) for name, weight in backbone.state_dict().items() if name in own)


def test_a_saved_model_reads_as_before(model, tmp_path):
    model.save_pretrained(tmp_path)
    batch = CrossBatch.of(SIDES, (2, 3))
    again = CrossModel.from_pretrained(tmp_path).eval()
    assert torch.allclose(margins(again, batch), margins(model, batch), atol=1e-6)


def test_views_are_pooled_by_the_largest_or_the_mean():
    found = torch.tensor([[1.0, 3.0, -1.0], [0.0, -2.0, -4.0]])
    for pool, wanted in (("max", [3.0, 0.0]), ("mean", [1.0, -2.0])):
        torch.testing.assert_close(match_probabilities(found, pool), torch.tensor(wanted).sigmoid())


def test_margins_that_differ_by_rounding_alone_are_one_chance():
    one, other = match_probabilities(torch.tensor([[1.23450001], [1.23449999]], dtype=torch.float64), "max").tolist()
    assert one == other == pytest.approx(1 / (1 + np.exp(-1.2345)))
