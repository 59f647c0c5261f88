"""The twin of a model that computes its products in bfloat16."""

import copy
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModel

from longmatch.encoders.mixed_precision import Bfloat16Linear, can_prepack, with_bfloat16_linears


@pytest.fixture(params=["tiny_bert", "tiny_roberta"])
def model(request) -> nn.Module:
    place: Path = request.getfixturevalue(request.param)
    return AutoModel.from_pretrained(place).eval()


@torch.inference_mode()
def read(model: nn.Module) -> Tensor:
    ids = torch.arange(5, 5 + 3 * 20).reshape(3, 20)
    return model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state


def test_it_gives_what_plain_layers_in_bfloat16_give(model: nn.Module):
    plain = copy.deepcopy(model)
    for block in list(plain.modules()):
        for name, layer in block.named_children():
            if isinstance(layer, nn.Linear):
                setattr(block, name, Bfloat16Linear(layer))
    twin = read(with_bfloat16_linears(model))
    assert (twin - read(plain)).abs().max() < 2**-6  # a few last digits of bfloat16
    assert (twin - read(model)).abs().max() < 2**-5


def test_the_model_itself_and_what_is_no_product_stay_as_they_were(model: nn.Module):
    before = read(model)
    twin = with_bfloat16_linears(model)
    assert torch.equal(read(model), before)
    assert twin.get_input_embeddings().weight is model.get_input_embeddings().weight
    assert not any(isinstance(layer, nn.Linear) for layer in twin.modules())
    assert read(twin).dtype == torch.float32


def test_the_gelu_of_every_layer_is_computed_with_the_product_before_it(model: nn.Module):
    fused = sum(isinstance(layer, nn.Identity) for layer in with_bfloat16_linears(model).modules())
    assert fused == (model.config.num_hidden_layers if can_prepack(torch.device("cpu")) else 0)
