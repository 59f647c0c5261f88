"""A model's folder may come from a stranger: no code of it runs, and nothing that it names is fetched or unpickled."""

import ast
import io
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from transformers import AutoModel

from longmatch.encoders.backbone import Backbone
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import TorchBackbone
from longmatch.lab.encoders.checkpoint import open_checkpoint, save_checkpoint, set_dropout
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.smith.encoder import SmithConfig, SmithModel
from longmatch.models.loading import load
from tests.cli.conftest import longmatch

__all__ = ["longmatch"]

ROOT = Path(__file__).parents[3]
OPENERS = ("from_pretrained", "from_config", "SentenceTransformer", "pipeline")  # of transformers and its relatives
EVIL = {"model_type": "evil", "auto_map": {"AutoConfig": "evil.EvilConfig", "AutoModel": "evil.EvilModel"}}
CODE = """
from pathlib import Path
from transformers import BertConfig, BertModel
Path({mark!r}).touch()
class EvilConfig(BertConfig):
    model_type = "evil"
class EvilModel(BertModel):
    config_class = EvilConfig
"""


def opening_calls() -> Iterator[tuple[str, ast.Call]]:
    """Each call of our own code that opens a model, with its file and line."""
    for folder in ("src", "benchmarks", "scripts", "examples"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                if name.rpartition(".")[2] in OPENERS and not name.endswith("Embedding.from_pretrained"):  # of a tensor
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A file that a stranger's code makes once it runs."""
    return tmp_path / "ran"


@pytest.fixture
def evil(tiny_bert: Path, tmp_path: Path, mark: Path) -> Path:
    """A model whose config names the code beside it."""
    folder = changed(tiny_bert, tmp_path / "evil", EVIL)
    (folder / "evil.py").write_text(CODE.format(mark=str(mark)))
    (folder / "longmatch.json").write_text(json.dumps({"model": "sdr", "rule": "sdr"}))
    return folder


def changed(model: Path, folder: Path, settings: dict[str, object]) -> Path:
    """A copy of a model with some settings of its config changed."""
    shutil.copytree(model, folder)
    config = json.loads((model / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | settings))
    return folder


def test_every_call_that_opens_a_model_refuses_its_code():
    calls = list(opening_calls())
    allowed = [
        place for place, call in calls if "trust_remote_code=False" not in [ast.unparse(word) for word in call.keywords]
    ]
    assert len(calls) > 5 and allowed == []


@pytest.mark.parametrize("command", ["compare {a} {b} --model {evil}", "index {library} {a} --backbone {evil}"])
def test_a_command_runs_no_code_of_a_model_even_if_asked_and_answered(
    command, evil, mark, tmp_path, longmatch, monkeypatch
):
    paths = {name: tmp_path / f"{name}.txt" for name in ("a", "b")}
    for path in paths.values():
        path.write_text("The bank failed on Monday. Depositors queued for their savings all night.")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    run = longmatch(*command.format(**paths, evil=evil, library=tmp_path / "library").split())
    assert "needs code of its own (auto_map in config.json), which longmatch never runs" in run.complaint
    assert not mark.exists()


@pytest.mark.parametrize("opened", [Backbone.load, TorchBackbone.load, load, lambda place: load(f"mean@{place}")])
def test_no_way_to_open_a_folder_runs_its_code(opened, evil, mark, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    with pytest.raises(LongmatchError, match="needs code of its own"):
        opened(str(evil))
    assert not mark.exists()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"attn_implementation": "kernels-community/flash-attn2"}, "an attention kernel"),
        ({"_attn_implementation": "flash_attention_2"}, "an attention kernel"),
        ({"quantization_config": {"quant_method": "fp8"}}, "a library for quantised weights"),
    ],
)
def test_a_config_that_names_what_would_be_fetched_is_refused(settings, reason, tiny_bert, tmp_path):
    with pytest.raises(LongmatchError, match=f"needs {reason}"):
        TorchBackbone.load(str(changed(tiny_bert, tmp_path / "model", settings)))


def test_a_network_inside_a_trained_model_names_no_code_either(tiny_bert, tmp_path, mark):
    inner = json.loads((tiny_bert / "config.json").read_text())
    SmithModel(SmithConfig(sentence_level=inner, document_heads=2, document_layers=1)).save_pretrained(tmp_path / "own")
    with pytest.raises(LongmatchError, match="needs code of its own"):
        open_checkpoint(SmithModel, changed(tmp_path / "own", tmp_path / "model", {"sentence_level": inner | EVIL}))


def test_an_adapter_beside_the_weights_is_refused(tiny_bert, tmp_path):
    folder = changed(tiny_bert, tmp_path / "model", {})
    (folder / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "stranger/model"}))
    with pytest.raises(LongmatchError, match=r"needs an adapter \(adapter_config.json\)"):
        TorchBackbone.load(str(folder))


def test_pickled_weights_are_not_loaded(tiny_bert, tmp_path):
    folder = changed(tiny_bert, tmp_path / "model", {})
    (folder / "model.safetensors").unlink()
    torch.save(AutoModel.from_pretrained(tiny_bert).state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(LongmatchError, match=r"cannot be opened \(no file model.safetensors\)"):
        TorchBackbone.load(str(folder))


@pytest.mark.parametrize("reference", ["../other.safetensors", "{root}/other.safetensors"])
def test_weights_outside_the_folder_are_not_read(reference, tiny_bert, tmp_path):
    folder = changed(tiny_bert, tmp_path / "model", {})
    (folder / "model.safetensors").rename(tmp_path / "other.safetensors")
    parts = {"weight_map": {"embeddings.word_embeddings.weight": reference.format(root=tmp_path)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(parts))
    with pytest.raises(LongmatchError, match="cannot be opened"):
        Backbone.load(str(folder))


@pytest.mark.parametrize(
    "settings",
    [
        *({"hidden_size": size} for size in (10**9, 64, -1, "x")),
        *({"num_hidden_layers": 10**9}, {"num_attention_heads": 0}, {"max_position_embeddings": 10**12}),
        {"hidden_act": ["gelu"]},
    ],
    ids=str,
)
@pytest.mark.parametrize("engine", ["openvino", "torch"])
def test_a_config_that_fits_no_weights_is_one_sentence(engine, settings, tiny_bert, tmp_path):
    folder = changed(tiny_bert, tmp_path / "model", settings)
    with pytest.raises(LongmatchError) as error:
        Backbone.load(str(folder), engine=engine).encode_texts(["The bank failed."])
    assert "model" in str(error.value) and "\n" not in str(error.value)


def test_a_saved_model_names_no_path_of_its_machine_and_is_readable_as_other_files(tiny_bert, tmp_path):
    model = SmithModel.from_backbone(str(tiny_bert), document_heads=2, document_layers=1)
    save_checkpoint(model, tmp_path / "own")
    assert str(tiny_bert.parent) not in (tmp_path / "own" / "config.json").read_text()
    (tmp_path / "other").touch()
    modes = {path.stat().st_mode for path in [*(tmp_path / "own").iterdir(), tmp_path / "other"]}
    assert len(modes) == 1
    assert open_checkpoint(SmithModel, tmp_path / "own").config.document_heads == 2


def rates(model):
    return {module.p for module in model.modules() if isinstance(module, torch.nn.Dropout)}


def test_a_new_model_has_the_dropout_asked_for(tiny_bert):
    assert rates(ColdeModel.from_backbone(str(tiny_bert), dropout=0.3).backbone) == {0.3}
    assert ColdeModel.from_backbone(str(tiny_bert), dropout=0.3).config.backbone["hidden_dropout_prob"] == 0.3


def test_without_one_a_backbone_keeps_its_own(tiny_bert):
    model = ColdeModel.from_backbone(str(tiny_bert)).backbone
    before = rates(model)
    set_dropout(model, None)
    assert rates(model) == before == {model.config.hidden_dropout_prob}
