"""SST's table 4 is made from the answers of trained rows alone."""

from pathlib import Path

import pytest

from longmatch.errors import LongmatchError
from longmatch.lab.benchmarks.sst_ablations import PARTS, main, part_of
from longmatch.lab.benchmarks.stored_results import StoredResults
from longmatch.lab.benchmarks.training_rows import ROWS
from longmatch.lab.evaluation.result_rows import compare_rows, rows_without_tests
from longmatch.lab.evaluation.runs import ModelRun
from tests.lab.evaluation.test_result_rows import run

FULL = "sst clustering=adaptive clusters=sst-clusters epochs=3"


def save(out: Path, *names: str) -> list[ModelRun]:
    found = [ModelRun(**{**vars(run(name, seed)), "data": "news"}) for name in names for seed in (1, 2)]
    for one in found:
        one.save(out)
    stored = StoredResults({}, [])
    stored.merge(out)
    stored.save(out)
    return found


def test_every_part_is_told_by_its_settings() -> None:
    for part in PARTS:
        model, settings = ROWS[part]
        words = [f"{key}={str(value).lstrip('@')}" for key, value in settings.items()]
        assert part_of(" ".join([model, *words, "epochs=3", "max_tokens=512"])) == part
    assert part_of("cross epochs=3") is None and part_of("sst sampling=soft-2") is None


def test_the_table_has_mean_deviation_and_a_test_against_the_full_model(tmp_path: Path) -> None:
    runs = save(tmp_path / "out", FULL, f"{FULL} views=1", "tfidf-like")
    page = tmp_path / "sst.md"
    page.write_text("# SST\n", encoding="utf-8")
    for _ in range(2):  # the second table takes the place of the first
        main(["--results", str(tmp_path / "out"), "--to", str(page)])
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert lines[0] == "| news | accuracy | difference | F1 | difference | seeds |" and len(lines) == 4
    assert lines[2].startswith("| SST: adaptive subtopics, soft sampling |") and "±" in lines[2]
    rows = {row.model: row for row in rows_without_tests(runs)}
    wanted = compare_rows(rows[f"{FULL} views=1"], rows[FULL], "F1")
    assert f"{100 * wanted.difference:+.1f} (p = {wanted.p:.3f})" in lines[3] and lines[3].endswith("| 1, 2 |")


def test_of_rows_that_differ_elsewhere_those_are_taken_that_have_the_settings_asked_for(tmp_path: Path) -> None:
    other = "sst clustering=adaptive clusters=sst-clusters learning_rate=1e-05"
    save(tmp_path / "out", other, FULL, f"{FULL} views=1")
    page = tmp_path / "sst.md"
    for having, parts in (("learning_rate=1e-05", 1), ("epochs=3", 2)):
        page.write_text("# SST\n", encoding="utf-8")
        main(["--results", str(tmp_path / "out"), "--to", str(page), "--having", having])
        lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
        assert len(lines) == 2 + parts


def test_without_the_full_model_there_is_no_table(tmp_path: Path) -> None:
    save(tmp_path / "out", f"{FULL} views=1")
    (tmp_path / "sst.md").write_text("# SST\n", encoding="utf-8")
    with pytest.raises(LongmatchError, match="train the row sst-adaptive-soft first"):
        main(["--results", str(tmp_path / "out"), "--to", str(tmp_path / "sst.md")])
