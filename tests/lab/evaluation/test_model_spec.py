"""The models of an evaluation, and the names of their rows."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from longmatch.errors import LongmatchError
from longmatch.lab.datasets import DataFolder
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.evaluate import Evaluation, evaluate
from longmatch.lab.evaluation.measures import parse
from longmatch.lab.evaluation.model_spec import (
    ModelSpec,
    Study,
    StudyPoint,
    default_settings,
    parse_studies,
    resolve_models,
)
from longmatch.lab.evaluation.report import tables
from longmatch.lab.evaluation.report_files import over_values, write_plots
from longmatch.lab.evaluation.result_rows import make_rows
from tests.lab.evaluation.conftest import TEXTS
from tests.lab.evaluation.test_report import made_up

Make = Callable[..., Path]
PAIRS = [("boats", "ships", 1), ("bread", "cakes", 1), ("boats", "stars", 0), ("bread", "ships", 0)]
SPLITS = ("train", "validation", "test")
LABELS = [(split, f"{split}-{a}", f"{split}-{b}", label) for split in SPLITS for a, b, label in PAIRS]
DOCUMENTS = {f"{split}-{id}": text for split in SPLITS for id, text in TEXTS.items()}


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


def results(out: Path) -> list[dict]:
    return json.loads((out / "results.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_a_study_trains_and_measures_a_model_for_each_value_and_seed(
    make_data: Make, tiny_bert: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    small = f"steps=1:documents=4:recurrent_width=8:projection_width=4:attention_heads=2:backbone={tiny_bert}"
    (plan,) = parse_studies([f"colde:sections=2,3:{small}:seed=1,2"])
    evaluation = Evaluation([make_data(DOCUMENTS, pairs=LABELS)], [], out, studies=[plan])
    rows = [row for row in evaluation.run() if row.run.study]
    assert [row.model.split()[-2] for row in rows] == ["sections=2", "sections=3"]
    assert [row.seeds for row in rows] == [[1, 2], [1, 2]]
    folders = sorted((out / "studies" / "tiny").iterdir())
    assert len(folders) == 4
    before = {folder: (folder / "longmatch.json").stat().st_mtime_ns for folder in folders}
    evaluation.run()
    assert {folder: (folder / "longmatch.json").stat().st_mtime_ns for folder in folders} == before
    (table,) = tables(evaluation.run())
    values, heights, spread = over_values(table, plan.name, "F1")
    assert values == [2, 3]
    assert heights == [row.measures["F1"] for row in sorted(rows, key=lambda row: row.model)]
    assert len(spread) == 2
    plots = {path.name for path in (out / "plots").iterdir()}
    assert any(name.startswith("tiny.test.colde-sections-steps-1") for name in plots)
    assert str(tiny_bert.parent) not in (out / "about.json").read_text(encoding="utf-8")
    assert all(row["study"]["key"] == "sections" for row in results(out) if row["model"].startswith("colde"))


@pytest.mark.parametrize("text", ["colde", "colde:", "colde:sections", "colde:sections=", ":sections=2,3", ":"])
def test_a_study_that_cannot_be_read_says_how_to_write_one(text: str) -> None:
    with pytest.raises(LongmatchError, match=r"cannot be read. Write MODEL:KEY=VALUE,VALUE"):
        Study.parse(text)


@pytest.mark.parametrize("text", ["colde:sections=2", "colde:sections=2,3:documents=4,8"])
def test_a_study_tries_out_one_setting(text: str) -> None:
    with pytest.raises(LongmatchError, match="must give one setting several values"):
        Study.parse(text)


def test_a_study_is_written_in_the_command_as_it_was_given() -> None:
    text = "colde:documents=8,16:epochs=1:seed=1,2"
    evaluation = Evaluation([Path("acl")], [], Path("out"), studies=parse_studies([text, text]))
    assert evaluation.command == f"longmatch evaluate --data acl --split test --study {text} --out out"


def long_documents(folder: Path) -> Path:
    """Four documents of six sections each."""
    folder.mkdir(parents=True)
    words = {"a": "boat harbour", "b": "boat tide", "c": "bread flour", "d": "bread oven"}
    lines = [
        {"id": id, "title": id, "sections": [{"heading": f"Part {n}", "text": f"The {w} {n}."} for n in range(6)]}
        for id, w in words.items()
    ]
    (folder / "documents.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    rows = [("test", "a", "b", 1), ("test", "c", "d", 1)]
    text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    (folder / "qrels.tsv").write_text("split\tquery\tdocument\tgrade\n" + text, encoding="utf-8")
    return folder


def test_a_shuffled_corpus_holds_the_same_documents_in_another_order(tmp_path: Path) -> None:
    folder = DataFolder(long_documents(tmp_path / "data"))
    plain, first, second = Corpus(folder), Corpus(folder, 1), Corpus(folder, 2)
    assert (first.name, first.ids) == ("data-shuffled", plain.ids)
    assert len({corpus.fingerprint for corpus in (plain, first, second)}) == 3
    headings = [[s.heading for s in corpus.documents("a")["a"].sections] for corpus in (plain, first, second)]
    assert sorted(headings[1]) == headings[0] == sorted(headings[2])
    assert headings[0] != headings[1] != headings[2]


def test_shuffled_sections_are_measured_beside_the_plain_ones_and_compared(tmp_path: Path) -> None:
    evaluate([long_documents(tmp_path / "data")], [], out=tmp_path / "out", shuffle_sections=True, seed=3)
    rows = {(row["data"], row["model"]): row for row in results(tmp_path / "out")}
    assert {data for data, _ in rows} == {"data", "data-shuffled"}
    assert "against_unshuffled" not in rows["data", "tfidf"]
    found = rows["data-shuffled", "tfidf"]["against_unshuffled"]["MRR"]
    assert (found["difference"], found["p"]) == (0.0, 1.0)  # words alone do not know their order
    assert "in their original order" in (tmp_path / "out" / "results.md").read_text(encoding="utf-8")


def test_values_that_are_words_are_drawn_too(tmp_path: Path) -> None:
    runs = [made_up("tfidf", [2, 1]), made_up("colde positives=linked", [1, 1], 1), made_up("colde b", [2, 3], 1)]
    studies = [None, *({"name": "colde positives", "key": "positives", "value": v} for v in ("linked", "connected"))]
    rows = make_rows([replace(run, study=study) for run, study in zip(runs, studies, strict=True)], [parse("MRR")])
    names = {path.name for path in write_plots(rows, tmp_path)}
    assert "set.test.colde-positives.svg" in names
    assert over_values(tables(rows)[0], "colde positives", "MRR")[0] == ["connected", "linked"]
