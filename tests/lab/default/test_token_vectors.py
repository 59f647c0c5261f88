"""Token vectors learnt from a transformer: their sums are near where it finds sentences near."""

import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer
from typer.testing import CliRunner

from longmatch.cli.app import app
from longmatch.default.meaning import encode_texts
from longmatch.encoders.backbone import Backbone
from longmatch.encoders.token_vectors import TokenVectors
from longmatch.lab.default import token_vectors
from longmatch.lab.default.token_vectors import TEACHER, draw_sentences, learn
from longmatch.matching.sentence_vectors import title_vectors
from longmatch.ragged import unit_rows
from tests.library.tiny import made_up_text


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "pretrain"
    folder.mkdir(parents=True)
    rows = [
        {"id": str(n), "title": f"Title {n}", "sections": [{"heading": "", "text": made_up_text(n)}]} for n in range(40)
    ]
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return tmp_path / "data"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_vectors, "BATCH", 64)
    monkeypatch.setattr(token_vectors, "WIDTH", 16)


def test_sums_come_near_a_teacher_that_is_a_sum(small, backbone) -> None:
    rng = np.random.default_rng(0)
    tokenizer = Tokenizer.from_str(backbone.tokenizer.to_str())
    hidden = TokenVectors.of(rng.normal(size=(tokenizer.get_vocab_size(), 24)).astype(np.float32), tokenizer)
    sentences = [line for n in range(120) for line in made_up_text(n).split(". ")]
    taught, held_out = sentences[:-200], sentences[-200:]
    table = learn(taught, encode_texts(hidden, taught), tokenizer, epochs=8)
    pairs = np.triu_indices(len(held_out), 1)
    found, wanted = (unit_rows(encode_texts(each, held_out)) for each in (table, hidden))
    assert np.corrcoef((found @ found.T)[pairs], (wanted @ wanted.T)[pairs])[0, 1] > 0.8


def test_the_same_sentences_are_drawn_each_time_and_titles_too(data) -> None:
    drawn = draw_sentences(data)
    assert drawn == draw_sentences(data) and "Title 3" in drawn and len(drawn) > 400


def test_the_command_writes_a_backbone_and_asks_the_teacher_once(small, data, tmp_path, tiny_bert) -> None:
    command = ["train", "token-vectors", "--data", str(data), "--out", str(tmp_path / "out")]
    command += ["--set", f"teacher={tiny_bert}"]
    for _ in range(2):
        assert not CliRunner().invoke(app, command).exception
    teacher = Backbone.load(str(tiny_bert))
    sentences = draw_sentences(data)
    kept = np.load(tmp_path / "out" / TEACHER)["vectors"]
    assert np.allclose(kept, title_vectors(sentences, teacher, None), atol=2e-3)
    assert TokenVectors.load(tmp_path / "out").width == 16


def test_other_sentences_and_other_settings_are_refused(small, data, tmp_path, tiny_bert) -> None:
    out = tmp_path / "out"
    out.mkdir()
    np.savez(out / TEACHER, vectors=np.zeros((3, 4)), made_by="another")
    command = ["train", "token-vectors", "--data", str(data), "--out", str(out), "--set", f"teacher={tiny_bert}"]
    assert "Remove it" in str(CliRunner().invoke(app, command).exception)
    assert "nothing else" in str(CliRunner().invoke(app, [*command, "--set", "epochs=3"]).exception)
    assert "has none of the collections" in str(
        CliRunner().invoke(app, [*command[:2], "--data", str(out), *command[4:]]).exception
    )
