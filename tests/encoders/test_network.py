"""A network in ONNX, as sentence-transformers repositories carry it, gives the vectors of its checkpoint."""

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper
from transformers import AutoModel

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.graph import UnsupportedArchitecture
from longmatch.encoders.network import read_onnx
from longmatch.errors import LongmatchError

PIECES = [np.arange(5, 15), np.arange(7, 40), np.array([9])]


class TokenStates(torch.nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        found = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return found.last_hidden_state


@pytest.fixture
def exported(tiny_bert: Path, tmp_path: Path) -> Path:
    """A folder without weights of a type that nobody knows, with an ONNX file."""
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    (folder / "onnx").mkdir()
    ids = torch.arange(14).reshape(2, 7) + 5
    names = ["input_ids", "attention_mask", "token_type_ids"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            TokenStates(model),
            (ids, torch.ones_like(ids), torch.zeros_like(ids)),
            str(folder / "onnx" / "model.onnx"),
            input_names=names,
            output_names=["last_hidden_state"],
            dynamic_axes={name: {0: "pieces", 1: "tokens"} for name in names},
            dynamo=False,
        )
    config = json.loads((folder / "config.json").read_text()) | {"model_type": "unheard-of"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").unlink()
    return folder


@pytest.mark.parametrize("mode", ["mean", "cls", "max"])
def test_its_vectors_are_those_of_the_checkpoint(exported: Path, tiny_bert: Path, mode: str) -> None:
    ours, theirs = (Backbone.load(str(f), device="cpu", precision="float32") for f in (exported, tiny_bert))
    assert ours.max_tokens == theirs.max_tokens
    assert np.abs(ours.with_pooling(mode).encode(PIECES) - theirs.with_pooling(mode).encode(PIECES)).max() < 1e-5


def test_without_the_file_the_architecture_is_named(exported: Path) -> None:
    shutil.rmtree(exported / "onnx")
    with pytest.raises(UnsupportedArchitecture, match=r"'unheard-of': install 'longmatch\[lab\]'"):
        Backbone.load(str(exported), engine="openvino")


def test_a_file_that_is_no_encoder_is_named(exported: Path) -> None:
    (exported / "onnx" / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(LongmatchError, match="cannot be read as ONNX"):
        Backbone.load(str(exported), device="cpu").encode(PIECES)


@pytest.fixture
def int8_export(exported: Path, tiny_bert: Path) -> Path:
    """Weights in 8 bits, as registries carry them: beside the config of a known architecture, without checkpoint."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(exported / "onnx" / "model.onnx", exported / "model.onnx", weight_type=QuantType.QInt8)
    shutil.rmtree(exported / "onnx")
    shutil.copy(tiny_bert / "config.json", exported)
    return exported


def test_eight_bit_weights_give_nearly_the_vectors_of_the_checkpoint(int8_export: Path, tiny_bert: Path) -> None:
    ours, theirs = (Backbone.load(str(f), device="cpu", precision="float32") for f in (int8_export, tiny_bert))
    assert (ours.encode(PIECES) * theirs.encode(PIECES)).sum(1).min() > 0.995


def test_the_vector_of_a_piece_does_not_depend_on_those_beside_it(int8_export: Path) -> None:
    backbone = Backbone.load(str(int8_export), device="cpu", precision="float32")
    alone = np.concatenate([backbone.encode([piece]) for piece in PIECES])
    assert np.abs(backbone.encode(PIECES) - alone).max() < 1e-5


def test_eight_bit_weights_are_computed_as_onnxruntime_does(int8_export: Path) -> None:
    import onnxruntime

    backbone = Backbone.load(str(int8_export), device="cpu", precision="float32")
    session = onnxruntime.InferenceSession(str(int8_export / "model.onnx"))
    ids = np.array([[backbone.first_token, *PIECES[1], backbone.last_token]])
    inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    (states,) = session.run(["last_hidden_state"], inputs)
    theirs = states[0].mean(0) / np.linalg.norm(states[0].mean(0))
    assert float(backbone.encode(PIECES[1:2])[0] @ theirs) > 0.99  # which rounds the states too


@pytest.mark.parametrize("location", ["../outside.bin", "{root}/outside.bin", "link.bin"])
def test_weights_that_an_onnx_file_names_outside_its_folder_are_not_read(location: str, tmp_path: Path) -> None:
    folder, outside = tmp_path / "model", tmp_path / "outside.bin"
    folder.mkdir()
    outside.write_bytes(np.ones(4, np.float32).tobytes())
    (folder / "link.bin").symlink_to(outside)
    weights = TensorProto(name="weights", dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value=location.format(root=tmp_path))
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "weights"], ["y"])], "graph", [x], [y], [weights])
    (folder / "model.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    with pytest.raises(LongmatchError, match="cannot be read as ONNX"):
        read_onnx(folder / "model.onnx", "mean")
