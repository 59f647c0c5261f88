"""The queue that trains and measures what docs/benchmarks.md holds."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from benchmarks.papers.job_queue import QueuedJob, run_all
from benchmarks.papers.prepare import prepare_set
from benchmarks.papers.train import BenchmarkPlan, check_overrides, prerequisites, settings_for
from benchmarks.papers.training_rows import ROWS

from longmatch.lab.baselines.cig.training import CigRecipe
from longmatch.lab.baselines.cross.training import CrossRecipe
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.training.train import find_recipe
from longmatch.models.registry import find_model
from tests.benchmarks.papers.noting import note, share_memory

LABELS = [("test", "boats", "ships", 1), ("test", "boats", "stars", 0)]


def test_work_waits_for_what_it_needs_and_a_failure_stops_only_what_needs_it(tmp_path, capsys) -> None:
    file, log = tmp_path / "notes", tmp_path / "logs" / "log"
    needs = {"last": ("second",), "second": ("first",), "first": (), "bad": (), "lost": ("bad",)}
    found = [QueuedJob(name, partial(note, name, file), log, wanted) for name, wanted in needs.items()]
    assert run_all(found, at_a_time=2, cores=1) == 2
    ran = file.read_text().split()
    assert sorted(ran) == ["bad", "first", "last", "second"]
    assert ran.index("first") < ran.index("second") < ran.index("last")
    told = capsys.readouterr().out
    assert "bad ValueError: it is bad" in told
    assert "lost skipped: a job it needs has failed" in told
    assert "first with 1 cores" in log.read_text()
    assert "Traceback" in log.read_text()


def test_work_that_finds_too_little_memory_beside_others_is_done_when_fewer_run(tmp_path, capsys) -> None:
    folder, log = tmp_path / "running", tmp_path / "log"
    folder.mkdir()
    jobs = [QueuedJob(name, partial(share_memory, name, folder, room=1), log) for name in ("a", "b", "c")]
    assert run_all(jobs, at_a_time=3, cores=1) == 0
    told = capsys.readouterr().out
    assert "found too little GPU memory" in told and told.count("is done") == 3


def test_work_that_finds_too_little_memory_alone_fails(tmp_path) -> None:
    folder = tmp_path / "running"
    folder.mkdir()
    assert (
        run_all([QueuedJob("a", partial(share_memory, "a", folder, room=0), tmp_path / "log")], at_a_time=3, cores=1)
        == 1
    )


def test_a_row_is_trained_after_those_it_needs_and_measured_after_it_is_trained(
    make_data: Callable[..., Path], tmp_path: Path
) -> None:
    data = make_data(pairs=LABELS, name="tiny")
    rows = ["colde", "smith-wp", "sst-adaptive-soft"]
    plan = BenchmarkPlan(data.parent, tmp_path / "out", ["tiny"], rows, [1, 2], {}, tmp_path / "rows")
    found = {job.name: job for job in plan.jobs()}
    assert next(iter(found)) == "tiny: untrained"
    pretrained = ["pretrain/smith-pretrain-wp-1", "pretrain/smith-pretrain-wp-2"]
    assert [name for name in found if name.startswith("pretrain/")] == pretrained
    assert [found[name].work.keywords["seed"] for name in pretrained] == [1, 2]
    assert found["tiny/smith-wp-2"].needs == ("pretrain/smith-pretrain-wp-2",)
    assert found["tiny/smith-wp-2"].work.keywords["pretrained"] == str(tmp_path / "out/pretrain/smith-pretrain-wp-2")
    assert found["tiny/sst-adaptive-soft-2"].needs == ("tiny/sst-clusters-2",)
    assert found["tiny/colde-1: measured"].needs == ("tiny/colde-1", "tiny: untrained")
    assert "tiny/sst-clusters-1: measured" not in found
    order = list(found)
    assert all(order.index(other) < order.index(name) for name, job in found.items() for other in job.needs)


def test_what_needs_no_training_begins_before_what_is_trained_and_may_be_little(make_data, tmp_path) -> None:
    data = make_data(pairs=LABELS, name="tiny")
    asked = data.parent, tmp_path / "out", ["tiny"], ["colde"], [1], {}, tmp_path / "rows"
    plan = BenchmarkPlan(*asked, also=["tiny/lda"], untrained=["bm25", "first"])
    found = {job.name: job for job in plan.jobs()}
    assert list(found)[:2] == ["tiny: untrained", "tiny/lda"]
    assert found["tiny: untrained"].work.args == (["bm25", "first"],)
    assert plan.models("tiny")[:4] == ["bm25", "first", "lda", str(tmp_path / "out/tiny/colde-1")]
    assert plan.models("tiny")[4] == f"colde-sections@{tmp_path / 'out/tiny/colde-1'}"


def test_the_rows_of_sdr_have_the_papers_values_unless_others_are_asked_for(make_data, tmp_path) -> None:
    data = make_data(pairs=LABELS, name="tiny")
    rows = ["sdr", "sdr-paper", "sdr-no-contrast"]
    plan = BenchmarkPlan(data.parent, tmp_path / "out", ["tiny"], rows, [1], {"sdr-paper.pairs": "256"}, tmp_path / "r")
    found = {job.name: job.work for job in plan.jobs()}
    settings = {row: found[f"tiny/{row}-1"].keywords for row in rows}
    assert "preset" not in settings["sdr"]
    assert settings["sdr-paper"]["preset"] == "paper" and settings["sdr-paper"]["pairs"] == "256"
    assert settings["sdr-no-contrast"]["contrastive"] is False and "pairs" not in settings["sdr-no-contrast"]
    assert f"first@{tmp_path / 'out/tiny/sdr-paper-1'}" in found["tiny/sdr-paper-1: measured"].args[0]


def test_a_setting_that_fits_no_row_is_refused() -> None:
    with pytest.raises(SystemExit, match="No row has a setting stepps"):
        check_overrides({"stepps": "3"}, ["colde"], ["acl"])
    with pytest.raises(SystemExit, match=r"No row has a setting sdr\.steps"):
        check_overrides({"sdr.steps": "3"}, ["colde"], ["acl"])
    with pytest.raises(SystemExit, match="No row has a setting wiki/steps"):
        check_overrides({"wiki/steps": "3"}, ["colde"], ["acl"])
    check_overrides({"acl/colde.steps": "3", "colde-no-lstm.documents": "8"}, ["colde", "colde-no-lstm"], ["acl"])


def test_a_setting_is_for_the_rows_and_sets_it_names_and_the_closest_wins() -> None:
    asked = {"steps": "1", "smith.steps": "2", "smith-short.steps": "3", "acl/smith.steps": "4", "colde.documents": "5"}
    found = {
        (row, data): settings_for(row, data, asked)
        for row in ("colde", "smith", "smith-short")
        for data in ("acl", "wiki")
    }
    assert found["colde", "acl"] == {"steps": "1", "documents": "5"}
    assert found["smith", "wiki"] == {"steps": "2"}
    assert found["smith", "acl"] == {"steps": "4"}
    assert found["smith-short", "acl"] == found["smith-short", "wiki"] == {"steps": "3"}


def test_only_what_fits_a_pattern_is_trained_and_what_it_needs(make_data, tmp_path) -> None:
    data = make_data(pairs=LABELS, name="tiny")
    rows = ["colde", "first", "sst-adaptive-soft"]
    plan = BenchmarkPlan(data.parent, tmp_path, ["tiny"], rows, [1, 2], {}, None, ["tiny/sst*-1", "*/first-2"])
    assert [job.name for job in plan.jobs()] == ["tiny/sst-clusters-1", "tiny/sst-adaptive-soft-1", "tiny/first-2"]


def test_pieces_begin_in_the_order_of_the_patterns_the_first_seed_of_all_sets_first(make_data, tmp_path) -> None:
    make_data(pairs=LABELS, name="one")
    data = make_data(pairs=LABELS, name="two").parent
    rows, only = ["first", "colde"], ["*/colde-1", "*-1", "one/*"]
    plan = BenchmarkPlan(data, tmp_path, ["one", "two"], rows, [1, 2], {}, None, only)
    wanted = ["one/colde-1", "two/colde-1", "one/first-1", "two/first-1", "one/first-2", "one/colde-2"]
    assert [job.name for job in plan.jobs()] == wanted


def test_a_row_is_trained_from_every_start_and_one_without_a_backbone_once(make_data, tmp_path) -> None:
    data = make_data(pairs=LABELS, name="tiny")
    asked = data.parent, tmp_path / "out", ["tiny"], ["colde", "smith-short"], [1], {}
    plan = BenchmarkPlan(*asked, starts=["all-MiniLM-L6-v2", "/models/raw-lm"])
    found = {job.name: job.work.keywords.get("backbone") for job in plan.jobs()}
    assert found == {
        "tiny/colde-1": None,
        "tiny/smith-short-1": "all-MiniLM-L6-v2",
        "tiny/colde-raw-lm-1": "/models/raw-lm",
    }


def test_a_set_of_near_pairs_is_trained_and_measured_by_its_label_file(make_data, tmp_path) -> None:
    data = make_data(pairs=LABELS, name="tiny")
    (data / "pairs-near.tsv").write_bytes((data / "pairs.tsv").read_bytes())
    plan = BenchmarkPlan(data.parent, tmp_path / "out", ["tiny-near"], ["cross"], [1], {}, tmp_path / "rows")
    jobs = {job.name: job.work for job in plan.jobs()}
    assert jobs["tiny-near/cross-1"].args[1] == data / "pairs-near.tsv"
    assert jobs["tiny-near/cross-1: measured"].func.__self__.folders == [data / "pairs-near.tsv"]


def test_smith_reads_the_prepared_minilm_where_there_is_one(make_data, tmp_path) -> None:
    data = make_data(pairs=LABELS, name="tiny").parent
    prepared = data / "models" / "all-MiniLM-L6-v2"
    prepared.mkdir(parents=True)
    rows = ["smith-mean-np", "smith-minilm", "smith-mean-wp"]
    plan = BenchmarkPlan(data, tmp_path / "out", ["tiny"], rows, [1], {})
    settings = {job.name: job.work.keywords for job in plan.jobs()}
    assert settings["tiny/smith-mean-np-1"]["tokenizer"] == str(prepared)
    assert settings["pretrain/smith-pretrain-wp-1"]["tokenizer"] == str(prepared)
    assert settings["tiny/smith-minilm-1"]["backbone"] == str(prepared)
    assert not {"tokenizer", "backbone"} & set(settings["tiny/smith-mean-wp-1"])


def test_a_study_changes_the_length_alone() -> None:
    lengths = [ROWS[f"smith-minilm-{tokens}"][1]["max_blocks"] for tokens in (256, 512, 1024, 2048)]
    assert lengths == [2, 4, 8, 16]
    assert dict(ROWS["smash-512"][1]) == {"opening": 512}
    assert ROWS["smith-mean-1024"][1]["max_blocks"] * 32 == 1024
    assert prerequisites(["smith-4-epochs"]) == ["smith-pretrain-4-epochs"]


def test_what_is_pre_trained_on_prepared_documents_reads_their_tokens(make_data, tiny_bert, tmp_path) -> None:
    tokenizer = open_tokenizer(str(tiny_bert)).backend_tokenizer
    for name in ("tiny", "pretrain"):
        folder = DataFolder(make_data(pairs=LABELS, name=name))
        prepare_set(folder, tokenizer, tmp_path / "prepared", tmp_path / "cache")
    out, rows = tmp_path / "out", tmp_path / "rows"
    plan = BenchmarkPlan(tmp_path / "prepared", out, ["tiny"], ["smith-wp"], [1], {}, rows, untrained=())
    plan.restore_prepared()
    assert sorted(path.name.rpartition("-")[0] for path in (out / "tokens").iterdir()) == ["pretrain", "tiny"]
    assert [path.name.rpartition("-")[0] for path in (rows / "encodings").iterdir()] == ["tiny"]


def test_a_ranking_without_the_words_of_its_first_stage_is_refused_before_anything_is_trained(
    make_data, tiny_bert, tmp_path
) -> None:
    folder = DataFolder(make_data(pairs=LABELS, qrels=[("test", "boats", "ships", 1)], name="tiny"))
    prepare_set(folder, open_tokenizer(str(tiny_bert)).backend_tokenizer, tmp_path / "prepared", tmp_path / "cache")
    what = tmp_path / "prepared", tmp_path / "out", ["tiny"], ["cross"], [1], {}, tmp_path / "rows"
    with pytest.raises(SystemExit, match=r"prepared without words.*--protocol pairs"):
        BenchmarkPlan(*what, untrained=()).restore_prepared()
    BenchmarkPlan(*what, untrained=(), protocol="pairs").restore_prepared()


def test_the_rows_that_read_both_documents_together_are_known() -> None:
    for model in {model for model, _ in ROWS.values()}:
        assert find_model(model).reads_pairs == issubclass(find_recipe(model), (CrossRecipe, CigRecipe))
