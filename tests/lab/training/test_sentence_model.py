"""A trained backbone's folder opens in longmatch and in sentence-transformers, with the same vectors."""

import json
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from longmatch.encoders.backbone import Backbone
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.training.sentence_model import save_sentence_model

SENTENCES = ["The bank failed.", "Depositors left together, and the queue grew until noon.", "Why?"]


@pytest.fixture(params=["tiny_bert", "tiny_roberta"])
def saved(request, tmp_path: Path) -> Path:
    source = request.getfixturevalue(request.param)
    folder = tmp_path / "new" / "folder"
    save_sentence_model(folder, AutoModel.from_pretrained(source), AutoTokenizer.from_pretrained(source), 48)
    return folder


def test_sentence_transformers_gives_the_same_vectors(saved):
    ours = Backbone.load(str(saved), precision="float32").encode_texts(SENTENCES)
    theirs = SentenceTransformer(str(saved), device="cpu").encode(SENTENCES)
    assert np.abs(ours - theirs).max() < 1e-5


def test_the_length_counts_the_start_and_end_tokens_in_both(saved):
    assert Backbone.load(str(saved)).max_tokens == 46
    assert SentenceTransformer(str(saved), device="cpu").max_seq_length == 48


def test_the_weights_are_the_backbones_alone_in_float32(saved):
    from safetensors import safe_open

    with safe_open(saved / "model.safetensors", framework="np") as file:
        names = set(file.keys())
        assert {str(file.get_tensor(name).dtype) for name in names} == {"float32"}
    assert names <= set(AutoModel.from_pretrained(saved).state_dict())


def test_the_packaged_model_saved_again_reads_more_tokens_at_once_if_asked_to(backbone, tmp_path):
    place = backbone.name
    save_sentence_model(
        tmp_path,
        TorchBackbone.load(place, device="cpu", precision="float32").model,
        AutoTokenizer.from_pretrained(place),
        512,
    )
    again = Backbone.load(str(tmp_path), precision="float32")
    assert (backbone.max_tokens, again.max_tokens) == (254, 510)
    assert np.abs(again.encode_texts(SENTENCES) - backbone.encode_texts(SENTENCES)).max() < 1e-6
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["model_max_length"] == 512
