"""The head for masked words: tied to the input embeddings, and the checkpoint's own where it has one."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModel, AutoTokenizer, BertForMaskedLM, RobertaForMaskedLM

from longmatch.lab.encoders.backbone import as_torch
from longmatch.lab.papers.sdr.encoder import SdrModel, margin_contrastive_loss


@pytest.mark.parametrize(("family", "kind"), [("tiny_bert", BertForMaskedLM), ("tiny_roberta", RobertaForMaskedLM)])
def test_a_checkpoints_own_head_is_taken_over_and_says_what_it_said(request, tmp_path, family, kind):
    torch.manual_seed(1)
    whole = kind.from_pretrained(request.getfixturevalue(family)).eval()
    for weight in whole.parameters():
        torch.nn.init.normal_(weight, std=0.2)
    whole.save_pretrained(tmp_path)
    model = SdrModel(AutoModel.from_pretrained(tmp_path)).eval()
    assert model.words.load_pretrained(str(tmp_path))
    ids = torch.arange(10, 40).view(2, 15)
    mask = torch.ones_like(ids)
    with torch.no_grad():
        ours = model.word_logits(model(ids, mask))
        theirs = whole(input_ids=ids, attention_mask=mask).logits
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("family", ["tiny_bert", "tiny_roberta"])
def test_a_checkpoint_without_a_head_gets_a_new_one(request, family):
    folder: Path = request.getfixturevalue(family)
    model = SdrModel(AutoModel.from_pretrained(folder))
    before = model.words.dense.weight.clone()
    assert not model.words.load_pretrained(str(folder))
    assert torch.equal(model.words.dense.weight, before)


def test_the_packaged_model_has_no_head(backbone):
    assert not SdrModel(as_torch(backbone).model).words.load_pretrained(backbone.name)


def test_the_head_is_tied_to_the_input_embeddings(tiny_bert):
    model = SdrModel(AutoModel.from_pretrained(tiny_bert))
    vocabulary = len(AutoTokenizer.from_pretrained(tiny_bert))
    assert sum(weight.numel() for weight in model.words.parameters()) == 32 * 32 + 32 + 2 * 32 + vocabulary
    model.word_logits(torch.randn(3, 32)).sum().backward()
    assert model.backbone.get_input_embeddings().weight.grad.abs().sum() > 0


def test_a_new_head_begins_with_how_often_each_word_occurs(tiny_bert):
    model = SdrModel(AutoModel.from_pretrained(tiny_bert))
    counts = torch.zeros(len(model.words.bias))
    counts[7], counts[9] = 30, 10
    model.words.init_frequencies(counts)
    chances = model.words.bias.exp()
    assert chances.sum().item() == pytest.approx(1, abs=1e-5)
    assert (chances[7] / chances[9]).item() == pytest.approx(31 / 11)
    assert (chances[9] / chances[0]).item() == pytest.approx(11)


def test_the_model_is_saved_without_shared_tensors_and_loads_again(tiny_bert, tmp_path):
    from safetensors.torch import load_file

    model = SdrModel(AutoModel.from_pretrained(tiny_bert))
    model.save_pretrained(tmp_path)
    other = SdrModel(AutoModel.from_pretrained(tiny_bert))
    other.load_state_dict(load_file(tmp_path / "model.safetensors"))
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))


def test_margin_loss_by_hand():
    """cos = 0.6: a positive costs 0.4, a negative 0.6 with m = 1 and 1.6 with m = 2."""
    p, q = torch.tensor([[1.0, 0.0]]), torch.tensor([[3.0, 4.0]])
    assert margin_contrastive_loss(p, q, torch.tensor([1])).item() == pytest.approx(0.4)
    assert margin_contrastive_loss(p, q, torch.tensor([0])).item() == pytest.approx(0.6)
    assert margin_contrastive_loss(p, q, torch.tensor([0]), margin=2).item() == pytest.approx(1.6)


def test_with_margin_one_opposite_negatives_cost_nothing_and_push_nothing():
    p = torch.tensor([[1.0, 0.2]], requires_grad=True)
    loss = margin_contrastive_loss(p, torch.tensor([[-1.0, 0.0]]), torch.tensor([0]))
    loss.backward()
    assert loss.item() == 0
    assert p.grad is not None and not p.grad.any()
