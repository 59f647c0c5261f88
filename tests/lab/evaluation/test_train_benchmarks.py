"""The queue that trains and measures what docs/benchmarks.md holds."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.lab.evaluation.noting import Note

SCRIPTS = Path(__file__).parents[3] / "scripts"
LABELS = [("test", "boats", "ships", 1), ("test", "boats", "stars", 0)]


@pytest.fixture
def scripts() -> Iterator[tuple[ModuleType, ModuleType]]:
    sys.path.insert(0, str(SCRIPTS))
    try:
        import tasks
        import train_benchmarks

        yield tasks, train_benchmarks
    finally:
        sys.path.remove(str(SCRIPTS))


def test_work_waits_for_what_it_needs_and_a_failure_stops_only_what_needs_it(scripts, tmp_path, capsys) -> None:
    tasks, _ = scripts
    file, log = tmp_path / "notes", tmp_path / "logs" / "log"
    needs = {"last": ("second",), "second": ("first",), "first": (), "bad": (), "lost": ("bad",)}
    found = [tasks.Task(name, Note(name, file), log, wanted) for name, wanted in needs.items()]
    assert tasks.run_all(found, at_a_time=2, cores=1) == 2
    ran = file.read_text().split()
    assert sorted(ran) == ["bad", "first", "last", "second"]
    assert ran.index("first") < ran.index("second") < ran.index("last")
    told = capsys.readouterr().out
    assert "bad ValueError: it is bad" in told
    assert "lost needs what could not be done" in told
    assert "first with 1 cores" in log.read_text()
    assert "Traceback" in log.read_text()


def test_a_row_is_trained_after_those_it_needs_and_measured_after_it_is_trained(
    scripts, make_data: Callable[..., Path], tmp_path: Path
) -> None:
    _, module = scripts
    data = make_data(pairs=LABELS, name="tiny")
    rows = ["colde", "smith-wp", "sst-adaptive-soft"]
    bench = module.Bench(data.parent, tmp_path / "out", ["tiny"], rows, [1, 2], {}, tmp_path / "rows")
    found = {task.name: task for task in bench.tasks()}
    assert next(iter(found)) == "tiny: untrained"
    assert [name for name in found if name.startswith("pretrain/")] == ["pretrain/smith-pretrain-wp"]
    assert found["tiny/smith-wp-2"].needs == ("pretrain/smith-pretrain-wp",)
    assert found["tiny/smith-wp-2"].work.settings["pretrained"] == str(tmp_path / "out/pretrain/smith-pretrain-wp")
    assert found["tiny/sst-adaptive-soft-2"].needs == ("tiny/sst-clusters-2",)
    assert found["tiny/colde-1: measured"].needs == ("tiny/colde-1", "tiny: untrained")
    assert "tiny/sst-clusters-1: measured" not in found
    order = list(found)
    assert all(order.index(other) < order.index(name) for name, task in found.items() for other in task.needs)


def test_what_needs_no_training_begins_before_what_is_trained_and_may_be_little(scripts, make_data, tmp_path) -> None:
    _, module = scripts
    data = make_data(pairs=LABELS, name="tiny")
    asked = data.parent, tmp_path / "out", ["tiny"], ["colde"], [1], {}, tmp_path / "rows"
    bench = module.Bench(*asked, also=["tiny/lda"], untrained=["bm25", "first"])
    found = {task.name: task for task in bench.tasks()}
    assert list(found)[:2] == ["tiny: untrained", "tiny/lda"]
    assert found["tiny: untrained"].work.models == ("bm25", "first")
    assert bench.models("tiny") == ["bm25", "first", "lda", str(tmp_path / "out/tiny/colde-1")]


def test_a_setting_that_fits_no_row_is_refused(scripts) -> None:
    _, module = scripts
    with pytest.raises(SystemExit, match="No row has a setting stepps"):
        module.check({"stepps": "3"}, ["colde"], ["acl"])
    with pytest.raises(SystemExit, match=r"No row has a setting sdr\.steps"):
        module.check({"sdr.steps": "3"}, ["colde"], ["acl"])
    with pytest.raises(SystemExit, match="No row has a setting wiki/steps"):
        module.check({"wiki/steps": "3"}, ["colde"], ["acl"])
    module.check({"acl/colde.steps": "3", "colde-no-lstm.documents": "8"}, ["colde", "colde-no-lstm"], ["acl"])


def test_a_setting_is_for_the_rows_and_sets_it_names_and_the_closest_wins(scripts) -> None:
    _, module = scripts
    asked = {"steps": "1", "smith.steps": "2", "smith-short.steps": "3", "acl/smith.steps": "4", "colde.documents": "5"}
    found = {
        (row, data): module.settings_for(row, data, asked)
        for row in ("colde", "smith", "smith-short")
        for data in ("acl", "wiki")
    }
    assert found["colde", "acl"] == {"steps": "1", "documents": "5"}
    assert found["smith", "wiki"] == {"steps": "2"}
    assert found["smith", "acl"] == {"steps": "4"}
    assert found["smith-short", "acl"] == found["smith-short", "wiki"] == {"steps": "3"}


def test_only_what_fits_a_pattern_is_trained_and_what_it_needs(scripts, make_data, tmp_path) -> None:
    _, module = scripts
    data = make_data(pairs=LABELS, name="tiny")
    rows = ["colde", "first", "sst-adaptive-soft"]
    bench = module.Bench(data.parent, tmp_path, ["tiny"], rows, [1, 2], {}, None, ["tiny/sst*-1", "*/first-2"])
    assert [task.name for task in bench.tasks()] == ["tiny/sst-clusters-1", "tiny/sst-adaptive-soft-1", "tiny/first-2"]


def test_pieces_begin_in_the_order_of_the_patterns_the_first_seed_of_all_sets_first(
    scripts, make_data, tmp_path
) -> None:
    _, module = scripts
    make_data(pairs=LABELS, name="one")
    data = make_data(pairs=LABELS, name="two").parent
    rows, only = ["first", "colde"], ["*/colde-1", "*-1", "one/*"]
    bench = module.Bench(data, tmp_path, ["one", "two"], rows, [1, 2], {}, None, only)
    wanted = ["one/colde-1", "two/colde-1", "one/first-1", "two/first-1", "one/first-2", "one/colde-2"]
    assert [task.name for task in bench.tasks()] == wanted
