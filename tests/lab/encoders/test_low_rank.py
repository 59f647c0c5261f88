"""A low-rank change learnt beside a network is the same change added to it."""

from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from transformers import AutoModel, BertConfig, BertModel

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.weights import change_from_bytes, change_to_bytes, combine_changes
from longmatch.lab.encoders.backbone import TorchBackbone
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


def test_kept_as_bytes_and_added_to_the_plain_network_it_gives_the_same_vectors() -> None:
    plain = small_bert()
    changed = changed_at_random(deepcopy(plain))
    before = outcome(plain)
    apply_change(plain, change_from_bytes(change_to_bytes(low_rank_change(changed))))
    assert not torch.allclose(outcome(plain), before, atol=1e-3)
    assert torch.allclose(outcome(plain), outcome(changed), atol=1e-5)


def test_a_change_of_another_network_is_refused() -> None:
    wider = BertModel(BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2))
    with pytest.raises(ValueError, match="no layer"):
        apply_change(wider, low_rank_change(changed_at_random(small_bert())))


@pytest.fixture
def tiny_change(tiny_bert: Path) -> dict[str, torch.Tensor]:
    """A change of the tiny BERT."""
    return low_rank_change(changed_at_random(AutoModel.from_pretrained(tiny_bert).eval()))


def test_a_changed_backbone_says_which_change_it_has(tiny_bert: Path, tiny_change: dict[str, torch.Tensor]) -> None:
    plain = TorchBackbone.load(str(tiny_bert), device="cpu")
    changed = plain.with_change(tiny_change, "digest")
    assert changed.with_pooling("cls").change == changed.change == "digest"
    pieces = [np.arange(5, 15), np.arange(7, 40)]
    assert not np.allclose(plain.encode(pieces), changed.encode(pieces), atol=1e-3)
    apply_change(plain.model, tiny_change)
    assert np.allclose(plain.encode(pieces), changed.encode(pieces), atol=1e-6)


def test_openvino_reads_with_the_change_and_keeps_it_apart_from_the_plain_network(
    tiny_bert: Path, tiny_change: dict[str, torch.Tensor]
) -> None:
    plain = Backbone.load(str(tiny_bert), device="cpu", precision="float32", engine="openvino")
    changed = plain.with_change(tiny_change, "digest")
    pieces = [np.arange(5, 15), np.arange(7, 40)]
    expected = TorchBackbone.load(str(tiny_bert), device="cpu").with_change(tiny_change, "digest").encode(pieces)
    assert np.abs(changed.encode(pieces) - expected).max() < 1e-5
    assert np.abs(plain.encode(pieces) - expected).max() > 1e-3
    assert plain.network.digest != changed.network.digest


def test_two_changes_joined_do_what_they_do_after_each_other() -> None:
    first, second = (low_rank_change(changed_at_random(small_bert(), rank)) for rank in (4, 2))
    after_each_other, at_once = small_bert(), small_bert()
    apply_change(after_each_other, first)
    apply_change(after_each_other, second)
    apply_change(at_once, change_from_bytes(change_to_bytes(combine_changes(first, second))))
    assert torch.allclose(outcome(at_once), outcome(after_each_other), atol=1e-5)
    assert not torch.allclose(outcome(at_once), outcome(small_bert()), atol=1e-3)


def test_a_share_of_the_layers_is_the_last_ones() -> None:
    model = small_bert()
    add_low_rank_layers(model, 2, upper=0.5)
    names = low_rank_change(model)
    assert names and all(name.startswith("encoder.layer.1.") for name in names)


def test_a_changed_backbone_leaves_the_one_it_was_made_of_as_it_was(tiny_bert: Path) -> None:
    plain = TorchBackbone.load(str(tiny_bert), device="cpu")
    before = plain.encode_texts(["The river rose."])
    model = deepcopy(plain.model)
    for parameter in add_low_rank_layers(model, 2):
        parameter.data.normal_(std=0.2)
    changed = plain.with_change(low_rank_change(model), "digest")
    assert (changed.change, plain.change) == ("digest", "")
    assert not np.allclose(changed.encode_texts(["The river rose."]), before, atol=1e-3)
    assert np.array_equal(plain.encode_texts(["The river rose."]), before)
