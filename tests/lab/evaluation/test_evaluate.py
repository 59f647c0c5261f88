"""The whole way: rows, files, resuming after a stop, and what a user is told."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import longmatch
from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.evaluation.evaluate import Evaluation, evaluate
from longmatch.lab.evaluation.report import Report
from longmatch.lab.evaluation.runs import ModelRun
from tests.forked import start

Make = Callable[..., Path]
QRELS = [("test", "boats", "ships", 1), ("test", "bread", "cakes", 2), ("test", "cakes", "bread", 1)]


def results(out: Path) -> list[dict]:
    return json.loads((out / "results.json").read_text(encoding="utf-8"))


def test_the_lexical_rows_are_always_there_with_measures_and_intervals(make_data: Make, tmp_path: Path) -> None:
    evaluate([make_data(qrels=QRELS)], ["tfidf"], out=tmp_path / "out")
    rows = {row["model"]: row for row in results(tmp_path / "out")}
    assert set(rows) == {"tfidf", "phrases", "bm25"}
    row = rows["tfidf"]
    assert (row["data"], row["split"], row["seed"], row["queries"], row["unhandled"]) == ("tiny", "test", 0, 3, 0)
    assert row["measures"]["MRR"] == 1.0
    assert row["intervals"]["MRR"] == [1.0, 1.0]
    assert row["seconds_per_document"] > 0
    assert rows["bm25"]["against_tfidf"]["MRR"]["p"] == 1.0
    assert {path.name for path in (tmp_path / "out" / "plots").iterdir()} == {"tiny.test.time.svg"}
    assert "| tfidf |" in (tmp_path / "out" / "results.md").read_text(encoding="utf-8")


def test_pairs_are_classified_where_there_are_no_queries(make_data: Make, tmp_path: Path) -> None:
    pairs = [("validation", "boats", "ships", 1), ("validation", "boats", "stars", 0)]
    pairs += [("test", "bread", "cakes", 1), ("test", "bread", "stars", 0), ("test", "cakes", "boats", 0)]
    evaluate([make_data(pairs=pairs)], ["tfidf"], out=tmp_path / "out")
    row = next(row for row in results(tmp_path / "out") if row["model"] == "tfidf")
    assert row["measures"] == pytest.approx(dict.fromkeys(row["measures"], 1.0))
    assert set(row["measures"]) == {"F1", "accuracy", "precision", "recall", "average_precision", "roc_auc"}
    assert row["pairs"] == 3


def test_both_protocols_run_when_their_measures_are_asked_for(make_data: Make, tmp_path: Path) -> None:
    pairs = [("validation", "boats", "ships", 1), ("test", "bread", "cakes", 1), ("test", "bread", "stars", 0)]
    folder = make_data(qrels=QRELS, pairs=pairs)
    evaluate([folder], [], out=tmp_path / "out", measures="nDCG@3,roc_auc")
    assert all(set(row["measures"]) == {"nDCG@3", "roc_auc"} for row in results(tmp_path / "out"))


def test_an_empty_document_is_counted_in_every_row(make_data: Make, tmp_path: Path) -> None:
    texts = {"one": "A boat sails.", "two": "The boat sails far.", "none": ""}
    evaluate([make_data(texts, qrels=[("test", "one", "two", 1)])], [], out=tmp_path / "out")
    for row in results(tmp_path / "out"):
        assert row["unhandled"] == 1
        assert list(row["unhandled_documents"]) == ["none"]
        assert row["measures"]["MRR"] == 1.0


def evaluate_and_die(folder: Path, out: Path) -> None:
    """The process ends at once when two models have answered."""
    save, saved = ModelRun.save, []

    def counted(self: ModelRun, to: Path) -> None:
        save(self, to)
        saved.append(self)
        if len(saved) == 2:
            os._exit(9)

    ModelRun.save = counted
    Evaluation([folder], [], out).run()


@pytest.mark.slow
def test_a_killed_evaluation_goes_on_with_the_next_row(make_data: Make, tmp_path: Path) -> None:
    folder, out = make_data(qrels=QRELS), tmp_path / "out"
    process = start(evaluate_and_die, folder, out)
    process.join()
    assert process.exitcode == 9
    assert {row["model"] for row in results(out)} == {"tfidf"}  # written when the first row was done
    first = {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert set(first) == {"tiny.test.tfidf.json", "tiny.test.phrases.json"}
    evaluate([folder], [], out=out)
    second = {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    assert {name: second[name] for name in first} == first
    assert {row["model"] for row in results(out)} == {"tfidf", "phrases", "bm25"}


def test_changed_labels_are_noticed(make_data: Make, tmp_path: Path) -> None:
    folder, out = make_data(qrels=QRELS), tmp_path / "out"
    evaluate([folder], [], out=out)
    (folder / "qrels.tsv").write_text("split\tquery\tdocument\tgrade\ntest\tboats\tstars\t1\n", encoding="utf-8")
    evaluate([folder], [], out=out)
    assert all(row["queries"] == 1 and row["measures"]["MRR"] < 1 for row in results(out))


def test_rows_of_other_sets_stay_in_the_results(make_data: Make, tmp_path: Path) -> None:
    evaluate([make_data(qrels=QRELS, name="one")], [], out=tmp_path / "out")
    evaluate([make_data(qrels=QRELS, name="two")], [], out=tmp_path / "out")
    assert {row["data"] for row in results(tmp_path / "out")} == {"one", "two"}


def test_a_split_without_labels_is_said_to_have_none(make_data: Make, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="has no labels to measure on in train"):
        Evaluation([make_data(qrels=QRELS)], [], tmp_path / "out", split="train").run()


def test_an_unknown_model_is_named_before_any_work(make_data: Make, tmp_path: Path) -> None:
    with pytest.raises(LongmatchError, match="There is no model nonsense"):
        evaluate([make_data(qrels=QRELS)], ["nonsense"], out=tmp_path / "out")
    assert not (tmp_path / "out" / "runs").exists()


def test_fidelity_is_reported_for_every_row(make_data: Make, tmp_path: Path) -> None:
    evaluate([make_data(qrels=QRELS)], [], out=tmp_path / "out", fidelity=2)
    assert all(row["fidelity"]["pairs"] == 2 for row in results(tmp_path / "out"))


def test_evaluation_needs_no_command_line_library() -> None:
    modules = "longmatch.lab.evaluation.evaluate, longmatch.lab.evaluation.fidelity"
    code = f"import sys, {modules}; assert 'typer' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


PAIRS = [("validation", "boats", "ships", 1), ("validation", "boats", "stars", 0)]
PAIRS += [("test", "bread", "cakes", 1), ("test", "bread", "stars", 0), ("test", "cakes", "boats", 0)]


@pytest.mark.parametrize(
    ("protocol", "shown"),
    [("auto", {"nDCG@10"}), ("ranking", {"nDCG@10"}), ("pairs", {"F1"}), ("both", {"nDCG@10", "F1"})],
)
def test_the_protocol_says_which_measures_there_are(
    protocol: str, shown: set[str], make_data: Make, tmp_path: Path
) -> None:
    evaluate([make_data(qrels=QRELS, pairs=PAIRS)], [], out=tmp_path / "out", protocol=protocol)
    assert all(set(row["measures"]) & {"nDCG@10", "F1"} == shown for row in results(tmp_path / "out"))


def test_a_protocol_the_set_has_no_labels_for_is_said(make_data: Make, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="has no labels to measure on"):
        evaluate([make_data(qrels=QRELS)], [], out=tmp_path / "out", protocol="pairs")


def test_both_protocols_give_two_tables(make_data: Make, tmp_path: Path) -> None:
    evaluate([make_data(qrels=QRELS, pairs=PAIRS)], [], out=tmp_path / "out", protocol="both")
    text = (tmp_path / "out" / "results.md").read_text(encoding="utf-8")
    assert "## tiny, test: 3 queries, 5 documents\n\n| model | nDCG@10 |" in text
    assert "## tiny, test: 3 pairs, 5 documents\n\n| model | F1 | accuracy | precision | recall |" in text
    names = {path.name for path in (tmp_path / "out" / "plots").iterdir()}
    assert names == {"tiny.test.time.svg", "tiny.test.pairs.time.svg"}


def test_answers_of_both_protocols_serve_a_later_question_for_one(make_data: Make, tmp_path: Path) -> None:
    folder, out = make_data(qrels=QRELS, pairs=PAIRS), tmp_path / "out"
    evaluate([folder], [], out=out, protocol="both")
    before = {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    evaluate([folder], [], out=out, protocol="ranking")
    assert {path.name: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before


def test_some_models_of_an_evaluation_can_be_measured_alone_without_a_report(make_data: Make, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluation = Evaluation([make_data(qrels=QRELS)], ["tfidf", "bm25"], out)
    evaluation.measure(["bm25"])
    assert [path.name for path in (out / "runs").iterdir()] == ["tiny.test.bm25.json"]
    assert not (out / "results.json").exists()
    made = json.loads((out / "runs" / "tiny.test.bm25.json").read_text(encoding="utf-8"))["made"]
    assert made["command"] == evaluation.command
    assert {row.model for row in evaluation.run()} == {"tfidf", "bm25", "phrases"}


def test_a_report_has_the_rows_of_the_sets_evaluated_as_tables_dicts_and_markdown(
    make_data: Make, tmp_path: Path
) -> None:
    evaluate(make_data(qrels=QRELS, name="before"), "tfidf", out=tmp_path / "out")
    seen: list[Report] = []
    folder = make_data(qrels=QRELS)
    report = longmatch.evaluate(folder, out=tmp_path / "out", models=[], measures=["MRR"], on_set_done=seen.append)
    assert len(report) == 3 and {row.run.data for row in report} == {"tiny"}
    assert report.to_dicts() == [row for row in results(tmp_path / "out") if row["data"] == "tiny"]
    assert "tiny, test: 3 queries, 5 documents" in str(report) and "100.0" in str(report)
    assert "| tfidf | **100.0** |" in report.to_markdown() == report._repr_markdown_()
    assert repr(report) == f"<Report of 3 rows on tiny, written to {tmp_path / 'out'}>"
    assert [str(each) for each in seen] == [str(report)]


def test_an_unknown_split_or_measure_is_refused(make_data: Make, tmp_path: Path) -> None:
    with pytest.raises(LongmatchError, match=r"There is no split dev\. Name one of train, validation, test"):
        evaluate(make_data(qrels=QRELS), split="dev", out=tmp_path / "out")
    with pytest.raises(LongmatchError, match="There is no measure nDGC@10"):
        evaluate(tmp_path / "data" / "tiny", measures=["nDGC@10"], out=tmp_path / "out")
