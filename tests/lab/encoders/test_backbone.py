"""torch as the engine: the same vectors, in the precision asked for, and networks that can be trained."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoTokenizer, MPNetConfig, MPNetModel

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.pretrained import Pooling
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone, TorchNetwork
from tests.processor import emulates_bfloat16

PIECES = [np.arange(5, 15), np.arange(7, 40), np.array([9])]


def test_bfloat16_vectors_are_those_of_float32(backbone):
    texts = ["The bank failed.", "Depositors left together, and the queue grew until noon.", "Why?"]
    few = 2 if emulates_bfloat16() else len(texts)
    coarse = Backbone.load(precision="bfloat16", device="cpu").encode_texts(texts[:few])
    assert (coarse * backbone.encode_texts(texts[:few])).sum(1).min() > 0.999


def test_a_relative_of_roberta_counts_its_positions_as_roberta_does(tiny_roberta):
    config = MPNetConfig(**AutoConfig.from_pretrained(tiny_roberta).to_diff_dict() | {"model_type": "mpnet"})
    tokenizer = AutoTokenizer.from_pretrained(tiny_roberta).backend_tokenizer
    backbone = TorchBackbone(TorchNetwork(MPNetModel(config).eval()), tokenizer, (0, 2), Pooling(), "mpnet")
    assert backbone.max_tokens == 62
    assert np.isfinite(backbone.encode([np.full(62, 9)])).all()


@pytest.mark.parametrize("family", ["tiny_bert", "tiny_roberta"])
def test_the_longest_piece_fits_and_fills_the_positions(request, family):
    backbone = TorchBackbone.load(str(request.getfixturevalue(family)), device="cpu")
    assert backbone.max_tokens == 62
    assert np.isfinite(backbone.encode([np.full(62, 9), np.full(3, 9)])).all()
    with pytest.raises((IndexError, RuntimeError)):  # one token more and the model itself gives up
        backbone.model(input_ids=torch.full((1, 65), 9))


def test_a_precision_torch_does_not_offer_is_refused(tiny_bert):
    with pytest.raises(LongmatchError, match="torch computes in float32 or bfloat16, not in mixed"):
        TorchBackbone.load(str(tiny_bert), precision="mixed")


def test_weights_tell_networks_apart(tiny_bert, tiny_roberta):
    folders = tiny_bert, tiny_bert, tiny_roberta
    one, again, other = (TorchBackbone.load(str(folder), device="cpu").network.digest for folder in folders)
    assert one == again != other
