"""A prepared set trains and measures as the set it was made from, without its text."""

import json

import pytest
import torch
from benchmarks.papers.prepare import prepare_backbone, prepare_set, restore_layers
from safetensors.torch import load_file

from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.evaluate import Evaluation
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.lab.training.train import train
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import write_two_wordings


@pytest.fixture(scope="module")
def made(tiny_bert, tmp_path_factory):
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", common_words(tiny_bert / "vocab.txt"))


@pytest.fixture(scope="module")
def prepared(made, tiny_bert, tmp_path_factory):
    out = tmp_path_factory.mktemp("prepared")
    tokenizer = open_tokenizer(str(tiny_bert)).backend_tokenizer
    return prepare_set(DataFolder(made), tokenizer, out, out / "cache", words=True)


def test_its_tokens_and_its_identity_are_those_of_the_set(made, prepared, tiny_bert, tmp_path):
    tokenizer = open_tokenizer(str(tiny_bert)).backend_tokenizer
    restore_layers(prepared, [tmp_path / "restored"])
    full = TrainingData.open(made, tokenizer, tmp_path / "full").tokens
    carried = TrainingData.open(prepared, tokenizer, tmp_path / "restored").tokens
    assert carried.ids == full.ids and carried.labels == full.labels
    for a, b in zip(carried, full, strict=True):
        for name in ("ids", "word_starts", "sentence_offsets", "sentence_paragraph", "sentence_section"):
            assert (getattr(a, name) == getattr(b, name)).all()
    carried_set, full_set = Corpus(DataFolder(prepared)), Corpus(DataFolder(made))
    assert carried_set.fingerprint == full_set.fingerprint
    assert carried_set.words(carried_set.ids) == full_set.words(full_set.ids)


def test_without_its_tokens_it_is_an_error_and_not_a_set_of_placeholders(prepared, tiny_bert, tmp_path):
    tokenizer = open_tokenizer(str(tiny_bert)).backend_tokenizer
    with pytest.raises(LongmatchError, match="holds tokens without text"):
        TrainingData.open(prepared, tokenizer, tmp_path)


def test_a_model_trained_and_measured_on_it_has_the_run_of_the_set_itself(made, prepared, tiny_bert, tmp_path):
    runs = {}
    for data in (made, prepared):
        out = tmp_path / data.parent.name
        if data is prepared:
            restore_layers(prepared, [out / "tokens", out / "rows" / "encodings"])
        settings = {"backbone": str(tiny_bert), "chunk_tokens": 32, "steps": 2, "cache": str(out / "tokens")}
        model = train("mean", data, out / "mean", documents=8, **settings)
        Evaluation([data], [str(model)], out / "rows", split="validation", protocol="pairs").measure([str(model)])
        (path,) = (out / "rows" / "runs").glob("*.json")
        runs[data] = json.loads(path.read_text(encoding="utf-8"))
    full, carried = runs[made], runs[prepared]
    assert carried["facts"] == full["facts"] and carried["words"] == full["words"]
    assert carried["verdicts"] == full["verdicts"]


@pytest.mark.filterwarnings("ignore:The model .* reads no more")
def test_a_model_that_reads_both_documents_measures_pairs_without_the_words(made, tiny_bert, tmp_path):
    tokenizer = open_tokenizer(str(tiny_bert)).backend_tokenizer
    prepared = prepare_set(DataFolder(made), tokenizer, tmp_path / "prepared", tmp_path / "cache")
    out = tmp_path / "out"
    restore_layers(prepared, [out / "tokens", out / "rows" / "encodings"])
    settings = {"backbone": str(tiny_bert), "side_tokens": 32, "steps": 1, "cache": str(out / "tokens")}
    model = train("cross", prepared, out / "cross", documents=8, **settings)
    Evaluation([prepared], [str(model)], out / "rows", split="validation", protocol="pairs").measure([str(model)])
    (path,) = (out / "rows" / "runs").glob("*.json")
    assert json.loads(path.read_text(encoding="utf-8"))["verdicts"]


def test_lexical_models_and_lda_have_the_runs_of_the_set_itself(made, prepared, tmp_path):
    runs = {}
    for data in (made, prepared):
        out = tmp_path / data.parent.name
        if data is prepared:
            restore_layers(prepared, [out / "encodings"])
        Evaluation([data], ["bm25", "lda"], out, split="validation", protocol="pairs").measure(["bm25", "lda"])
        runs[data] = {path.name: json.loads(path.read_text(encoding="utf-8")) for path in (out / "runs").glob("*.json")}
    full, carried = runs[made], runs[prepared]
    assert len(full) == 2 and carried.keys() == full.keys()
    for name, run in full.items():
        assert carried[name]["facts"] == run["facts"] and carried[name]["verdicts"] == run["verdicts"]


def test_a_prepared_backbone_is_half_as_large(tiny_bert, tmp_path):
    place = prepare_backbone(str(tiny_bert), tmp_path)
    weights = load_file(place / "model.safetensors")
    assert {weight.dtype for weight in weights.values() if weight.is_floating_point()} == {torch.float16}
    assert open_tokenizer(str(place)).get_vocab() == open_tokenizer(str(tiny_bert)).get_vocab()
