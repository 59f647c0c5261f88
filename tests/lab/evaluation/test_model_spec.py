"""The models of an evaluation, and the names of their rows."""

import json
from pathlib import Path

import pytest

from longmatch.errors import LongmatchError
from longmatch.lab.evaluation.model_spec import ModelSpec, StudyPoint, default_settings, resolve_models


def record(folder: Path, model: str = "colde", seed: int = 1, data: tuple[str, ...] = ("up/acl",), **settings) -> str:
    folder.mkdir(parents=True)
    found = {"model": model, "seed": seed, "data": list(data), "settings": default_settings(model) | settings}
    (folder / "longmatch.json").write_text(json.dumps(found), encoding="utf-8")
    return str(folder)


def test_a_trained_row_is_called_by_its_model_and_the_settings_that_are_not_the_defaults(tmp_path: Path) -> None:
    word = record(tmp_path / "a", seed=7, contrastive=False, epochs=2.0, workers=3, precision="bfloat16")
    assert ModelSpec.of(word).name("acl") == "colde contrastive=False epochs=2"
    assert ModelSpec.of(word).seed == 7


def test_a_model_that_also_exists_untrained_is_called_trained(tmp_path: Path) -> None:
    word = record(tmp_path / "a", model="sdr")
    assert ModelSpec.of(word).name("acl") == ModelSpec.of(f"sdr@{word}").name("acl") == "trained sdr"
    assert ModelSpec.of(f"mean@{word}").name("acl") == "mean on trained sdr"


def test_a_row_says_what_it_was_trained_on_where_that_is_another_set(tmp_path: Path) -> None:
    spec = ModelSpec.of(record(tmp_path / "a", data=("up/acl", "up/wiki")))
    assert spec.name("acl") == "colde from acl+wiki"
    own = ModelSpec.of(record(tmp_path / "b", data=("up/acl/documents.jsonl.xz",)))
    assert (own.name("acl"), own.name("acl-shuffled"), own.name("wiki")) == ("colde", "colde", "colde from acl")


def test_no_name_holds_a_path(tmp_path: Path) -> None:
    (tmp_path / "backbone").mkdir()
    words = [record(tmp_path / "a", backbone=str(tmp_path / "other")), f"sdr@{tmp_path / 'backbone'}"]
    names = [ModelSpec.of(word).name("acl") for word in words]
    assert names == ["colde backbone=other", "sdr@backbone"]


def test_a_studys_row_says_the_value_even_where_it_is_the_default(tmp_path: Path) -> None:
    spec = ModelSpec.of(record(tmp_path / "a"), StudyPoint("colde sections", "sections", 2))
    assert spec.name("acl") == "colde sections=2"


def test_the_same_model_with_the_same_seed_is_not_counted_twice(tmp_path: Path) -> None:
    words = [record(tmp_path / name) for name in "ab"]
    with pytest.raises(LongmatchError, match="hold the same model trained with the same seed"):
        resolve_models(words)


def test_a_record_that_cannot_be_read_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "longmatch.json").write_text('{"model": "colde"}', encoding="utf-8")
    with pytest.raises(LongmatchError, match=r"longmatch.json does not name its model and seed\."):
        ModelSpec.of(str(tmp_path))
