"""A tokenizer may come from a stranger, and makes little text out of little; weights are of any precision."""

import json
import shutil
from base64 import b64encode
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.checkpoint import PARTS, WEIGHTS, as_float32, read_tokenizer, read_weights, weight_files

LONGER = {"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaa"}
CHARSMAP = b64encode((8).to_bytes(4, "little") + bytes(8) + b"a" * 1_000 + b"\0").decode()
PIECES = [np.arange(5, 15), np.arange(7, 40)]


def with_normalizer(folder: Path, model: Path, normalizer: object) -> str:
    settings = json.loads((model / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(settings | {"normalizer": normalizer}))
    return str(folder)


@pytest.mark.parametrize(
    "normalizer",
    [
        {"type": "Sequence", "normalizers": [LONGER] * 9},
        {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": [LONGER] * 3}] * 3},
        {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "a" * 1_000}]},
        {"type": "Precompiled", "precompiled_charsmap": CHARSMAP},
    ],
    ids=["replacements", "nested", "prepended", "precompiled"],
)
def test_a_normalizer_that_makes_much_text_out_of_little_is_refused(normalizer, tiny_bert, tmp_path):
    with pytest.raises(ValueError, match=r"its normalizer may make [0-9,]+ characters out of one"):
        read_tokenizer(with_normalizer(tmp_path, tiny_bert, normalizer))


def test_ordinary_normalizers_are_read(tiny_bert, tmp_path):
    spaces = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    steps = [{"type": "NFKC"}, {"type": "Lowercase"}, spaces, {"type": "Prepend", "prepend": "▁"}]
    place = with_normalizer(tmp_path, tiny_bert, {"type": "Sequence", "normalizers": steps})
    (tmp_path / "tokenizer_config.json").write_bytes((tiny_bert / "tokenizer_config.json").read_bytes())
    assert read_tokenizer(place)[0].normalizer.normalize_str("A  B") == "▁a b"


def test_weights_in_parts_are_those_of_one_file(tiny_bert: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    weights = load_file(folder / WEIGHTS)
    names = sorted(weights)
    files = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, some in files.items():
        save_file({name: weights[name] for name in some}, folder / file)
    (folder / PARTS).write_text(
        json.dumps({"weight_map": {name: file for file, some in files.items() for name in some}})
    )
    (folder / WEIGHTS).unlink()
    expected = Backbone.load(str(tiny_bert), precision="float32").encode(PIECES)
    assert np.array_equal(Backbone.load(str(folder), precision="float32").encode(PIECES), expected)
    (folder / "b.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"b\.safetensors"):
        weight_files(str(folder))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_checkpoint_of_another_precision_is_read_in_float32(
    tiny_bert: Path, tmp_path: Path, dtype: torch.dtype
) -> None:
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    stored = {name: array.to(dtype) for name, array in load_file(folder / WEIGHTS).items()}
    save_file(stored, folder / WEIGHTS)
    read = read_weights(weight_files(str(folder)))
    assert all(np.array_equal(as_float32(read[name]), array.float().numpy()) for name, array in stored.items())
    ours, theirs = (
        Backbone.load(str(folder), device="cpu", precision="float32", engine=engine) for engine in ("openvino", "torch")
    )
    assert np.abs(ours.encode(PIECES) - theirs.encode(PIECES)).max() < 1e-5


def test_weights_of_whole_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="int8"):
        as_float32(np.zeros(3, dtype=np.int8))
