"""A low-rank change learnt beside a network is the same change added to it."""

from copy import deepcopy

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel

from longmatch.lab.encoders.low_rank import add_low_rank_layers, apply_change, low_rank_change


def small_bert() -> BertModel:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    return BertModel(BertConfig(vocab_size=50, **sizes), add_pooling_layer=False).eval()


def outcome(model: nn.Module) -> torch.Tensor:
    with torch.no_grad():
        return model(input_ids=torch.arange(12).view(2, 6)).last_hidden_state


def changed_at_random(model: nn.Module, rank: int = 4) -> nn.Module:
    torch.manual_seed(1)
    for parameter in add_low_rank_layers(model, rank):
        # halves, so that saving in half precision loses nothing
        parameter.data.copy_((0.1 * torch.randn_like(parameter)).half().float())
    return model


def test_nothing_changes_at_first() -> None:
    plain = small_bert()
    expected = outcome(plain)
    add_low_rank_layers(plain, 4)
    assert torch.equal(outcome(plain), expected)


def test_only_the_change_can_be_learnt() -> None:
    model = small_bert()
    learnt = add_low_rank_layers(model, 4)
    assert {id(p) for p in learnt} == {id(p) for p in model.parameters() if p.requires_grad}
    assert len(learnt) == 2 * 6 * 2  # two layers of six matrices, down and up


def test_added_to_the_plain_network_it_gives_the_same_vectors() -> None:
    plain = small_bert()
    changed = changed_at_random(deepcopy(plain))
    before = outcome(plain)
    apply_change(plain, low_rank_change(changed))
    assert not torch.allclose(outcome(plain), before, atol=1e-3)
    assert torch.allclose(outcome(plain), outcome(changed), atol=1e-5)


def test_a_change_of_another_network_is_refused() -> None:
    wider = BertModel(BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2))
    with pytest.raises(ValueError, match="no layer"):
        apply_change(wider, low_rank_change(changed_at_random(small_bert())))
