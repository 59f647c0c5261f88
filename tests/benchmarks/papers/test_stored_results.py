"""What was measured is kept in little, and nothing that is worked out from it changes."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from benchmarks.papers.stored_results import ResultGroup, StoredResults
from benchmarks.papers.stored_runs import rounded, unpack

from longmatch.errors import LongmatchError
from longmatch.lab.evaluation.measures import PairPredictions
from longmatch.lab.evaluation.result_rows import make_rows
from longmatch.lab.evaluation.runs import ModelRun
from tests.lab.evaluation.test_result_rows import run


def changed(one: ModelRun, **changes: object) -> ModelRun:
    return ModelRun(**{**vars(one), **changes})


def save(folder: Path, *runs: ModelRun) -> Path:
    for one in runs:
        one.save(folder)
    return folder


def lost(model: str, value: float, **more: object) -> dict:
    """A row of which only the numbers are at hand."""
    row = {"data": "set", "split": "test", "seed": 0, "queries": 30, "pairs": 60, "documents": 50, "model": model}
    row |= {"measures": {"F1": value}, "intervals": {}, "against_tfidf": {}, "against_best_other": {}, "marks": {}}
    return row | {"seconds_per_document": 0.0, "unhandled": 0, "device": "CPU"} | more


def test_rows_worked_out_from_what_is_kept_are_those_of_the_answers(tmp_path: Path) -> None:
    runs = [run("bm25"), *(run("colde", seed) for seed in (1, 2)), run("tfidf")]
    tied = runs[0].verdicts
    assert tied is not None
    scores = np.round(tied.scores, 1)
    scores[3] = -np.inf  # a pair that could not be handled
    runs[0] = changed(runs[0], verdicts=PairPredictions(tied.labels, scores, 0.6))
    stored = StoredResults.load(tmp_path / "results")
    stored.merge(save(tmp_path / "out", *runs))
    stored.save(tmp_path / "results")
    again = StoredResults.load(tmp_path / "results").groups["set.test"]
    wanted = {row.model: row.to_dict() for row in make_rows(runs)}
    found = {row.model: row.to_dict() for row in make_rows(again.runs)}
    assert found.keys() == wanted.keys() == {row["model"] for row in again.rows}
    for row in again.rows:
        for key in ("measures", "intervals", "against_tfidf", "against_bm25", "against_best_other"):
            assert found[row["model"]][key] == wanted[row["model"]][key]
            assert row[key] == rounded(wanted[row["model"]][key])


def test_a_row_measured_again_takes_its_last_ones_place_and_a_new_seed_joins_it(tmp_path: Path) -> None:
    stored = StoredResults({}, [])
    first, second = ({"command": c, "commit": c, "code": "x", "machine": "m", "versions": {}} for c in "ab")
    stored.merge(save(tmp_path / "a", changed(run("tfidf"), made=first), changed(run("colde", 1), made=first)))
    newer = changed(run("tfidf"), made=second)
    stored.merge(save(tmp_path / "b", newer, changed(run("colde", 2), made=second)))
    rows = {row["model"]: row for row in stored.groups["set.test"].rows}
    assert rows["tfidf"]["measures"] == rounded(make_rows([newer])[0].measures)
    assert rows["colde"]["seeds"] == [1, 2]
    assert {entry["command"]: entry["rows"]["set"] for entry in stored.provenance} == {
        "a": ["colde"],
        "b": ["colde", "tfidf"],
    }


def test_a_row_measured_wrongly_can_be_dropped_and_the_others_are_tested_without_it(tmp_path: Path) -> None:
    stored = StoredResults({}, [])
    made = {"command": "a", "commit": "a", "code": "x", "machine": "m", "versions": {}}
    runs = [changed(one, made=made) for one in (run("bm25"), run("colde", 1), run("tfidf"))]
    stored.merge(save(tmp_path / "a", *runs))
    stored.merge(drop=["other/*", "set/col*"])
    fresh = StoredResults({}, [])
    fresh.merge(save(tmp_path / "b", runs[0], runs[2]))
    assert stored.groups["set.test"].rows == fresh.groups["set.test"].rows
    assert [entry["rows"] for entry in stored.provenance] == [{"set": ["bm25", "tfidf"]}]


def test_several_folders_and_drops_compute_each_changed_group_once(tmp_path: Path, monkeypatch) -> None:
    made = {"command": "a", "commit": "a", "code": "x", "machine": "m", "versions": {}}
    runs = [changed(one, made=made) for one in (run("tfidf"), run("bm25"), run("colde", 1))]
    folders = [save(tmp_path / one.model, one) for one in runs]
    untouched = ResultGroup("other", "test", None, [lost("tfidf", 0.5)])
    stored = StoredResults({untouched.name: untouched}, [])
    computed = []
    compute = ResultGroup.compute_rows
    monkeypatch.setattr(ResultGroup, "compute_rows", lambda group: (computed.append(group.name), compute(group)))
    stored.merge(*folders, drop=["set/colde"])
    assert computed == ["set.test"]
    assert [row["model"] for row in stored.groups["set.test"].rows] == ["bm25", "tfidf"]


def test_all_rows_are_computed_again_if_asked(tmp_path: Path) -> None:
    stored = StoredResults({}, [])
    stored.merge(save(tmp_path / "out", run("tfidf"), run("colde", 1)))
    group = stored.groups["set.test"]
    wanted = json.dumps(group.rows)
    for row in group.rows:
        row["measures"]["F1"] = 0.0  # as by an older rule
    stored.merge()
    assert json.dumps(stored.groups["set.test"].rows) != wanted
    stored.merge(recompute=True)
    assert json.dumps(stored.groups["set.test"].rows) == wanted


def test_answers_to_other_questions_are_refused(tmp_path: Path) -> None:
    stored = StoredResults({}, [])
    stored.merge(save(tmp_path / "a", run("tfidf")))
    other = run("bm25")
    assert other.verdicts is not None
    labels = PairPredictions(~other.verdicts.labels, other.verdicts.scores, 0.6)
    with pytest.raises(LongmatchError, match="bm25 was evaluated on other labels of set"):
        stored.merge(save(tmp_path / "b", changed(other, verdicts=labels)))


def test_nothing_is_said_of_a_best_row_that_no_test_was_made_with(tmp_path: Path) -> None:
    tested = {"against_best_other": {"F1": {"model": "old second"}}, "marks": {"F1": "+*"}}
    rows = [lost("old best", 0.99, **tested), lost("old second", 0.98), lost("old trained", 0.1, seeds=[1])]
    rows[0]["measures"]["recall"] = rows[1]["measures"]["recall"] = rows[2]["measures"]["recall"] = 0.0
    group = ResultGroup("set", "test", None, rows)
    stored = StoredResults({group.name: group}, [])
    stored.merge(save(tmp_path / "a", run("tfidf"), run("bm25"), run("colde", 1)))
    found = {row["model"]: row for row in group.rows}
    assert found["old best"]["marks"]["F1"] == "+*"  # the second is the second still
    for model in ("tfidf", "bm25", "colde"):
        known = found[model]["against_best_other"]  # of the accuracy of older rows nothing is known
        assert {"MRR", "recall"} <= known.keys() and not {"F1", "accuracy"} & known.keys()
    assert "F1" in found["colde"]["against_tfidf"] and "F1" not in found["colde"]["against_best_untrained"]
    perfect = run("perfect")
    assert perfect.verdicts is not None
    right = PairPredictions(perfect.verdicts.labels, perfect.verdicts.labels.astype(float), 0.5)
    stored.merge(save(tmp_path / "b", changed(perfect, verdicts=right)))
    assert {row["model"]: row["marks"] for row in group.rows if "marks" in row}["old best"]["F1"] == "+"
    assert "F1" in {row["model"]: row for row in group.rows}["tfidf"]["against_best_other"]


def test_no_ids_of_documents_are_kept(tmp_path: Path) -> None:
    stored = StoredResults({}, [])
    stored.merge(save(tmp_path / "a", run("tfidf")))
    stored.save(tmp_path / "results")
    content = lzma.decompress((tmp_path / "results" / "set.test.npz.xz").read_bytes())
    assert not any(f'"{id}"'.encode() in content for id in ("q00", "s1"))
    assert unpack(lzma.compress(content))[0]["asked"]["sources"][:3] == [0, 1, 12]


def test_a_run_without_the_order_of_its_pairs_keeps_its_measures_and_the_tests_that_were_made(tmp_path: Path) -> None:
    stored = StoredResults({}, [])
    stored.merge(save(tmp_path / "a", run("tfidf"), run("bm25"), run("colde", 1), run("mean", 1)))
    before = {row["model"]: row for row in stored.groups["set.test"].rows}
    stored.save(tmp_path / "results")
    assert (
        StoredResults.load(tmp_path / "results").groups["set.test"].to_bytes() == stored.groups["set.test"].to_bytes()
    )
    again = StoredResults.load(tmp_path / "results")
    worse = min(("colde", "mean"), key=lambda model: before[model]["measures"]["average_precision"])
    known = {each.model for each in again.groups["set.test"].runs if each.verdicts and each.verdicts.known}
    assert known == {worse}
    again.merge(recompute=True)
    after = {row["model"]: row for row in again.groups["set.test"].rows}
    for key in ("measures", "intervals", "against_tfidf", "against_bm25"):
        assert after[worse][key] == before[worse][key]
    assert after["tfidf"]["against_best_other"].keys() <= before["tfidf"]["against_best_other"].keys()
