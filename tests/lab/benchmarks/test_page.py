"""docs/benchmarks.md is made from what evaluations wrote alone."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from longmatch.lab.benchmarks.page import main, write_page
from longmatch.lab.benchmarks.stored_results import ResultGroup, StoredResults
from longmatch.lab.evaluation.evaluate import evaluate
from longmatch.lab.evaluation.provenance import commit_of
from tests.lab.benchmarks.test_stored_results import lost

ROOT = Path(__file__).parents[3]
Make = Callable[..., Path]
QRELS = [("test", "boats", "ships", 1), ("test", "bread", "cakes", 1)]
PAIRS = [("validation", "boats", "ships", 1), ("validation", "boats", "stars", 0)]
PAIRS += [("test", "bread", "cakes", 1), ("test", "bread", "stars", 0), ("test", "cakes", "boats", 0)]


@pytest.fixture
def page_of() -> Callable[[Path], str]:
    def write(out: Path) -> str:
        """With the folder, and once more from what was kept of it."""
        kept = ["--results", str(out / "kept"), "--to", str(out / "benchmarks.md")]
        main([str(out), *kept])
        page = (out / "benchmarks.md").read_text(encoding="utf-8")
        main(kept)
        assert (out / "benchmarks.md").read_text(encoding="utf-8") == page
        return page

    return write


def test_the_page_has_every_row_with_machine_code_and_the_command_that_ran(page_of, make_data, tmp_path) -> None:
    out = tmp_path / "out"
    evaluate([make_data(qrels=QRELS, name=name) for name in ("one", "two")], [], out=out, fidelity=1)
    (about,) = json.loads((out / "about.json").read_text(encoding="utf-8"))
    page = page_of(out)
    assert about["machine"] in page
    assert f"torch {about['versions']['torch']}" in page
    assert about["command"] == "longmatch evaluate --data one two --split test --fidelity 1 --out out"
    assert about["command"] in page
    assert str(about["commit"] or commit_of(about["code"]) or about["code"]) in page
    assert about["rows"] == {name: ["bm25", "phrases", "tfidf"] for name in ("one", "two")}
    for row in json.loads((out / "results.json").read_text(encoding="utf-8")):
        assert f"## {row['data']}" in page
        assert page.count(f"| {row['model']} |") == 5  # all sets; each set; each set's explanations


def test_evaluations_of_different_commits_are_each_named(page_of, make_data: Make, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate([make_data(qrels=QRELS)], [], out=out)
    run = out / "runs" / "tiny.test.bm25.json"
    found = json.loads(run.read_text(encoding="utf-8"))
    found["made"] |= {"commit": "0123456789ab", "command": "longmatch evaluate --data tiny --models bm25"}
    run.write_text(json.dumps(found), encoding="utf-8")
    evaluate([out.parent / "data" / "tiny"], ["sdr-plain"], out=out, limit_queries=1)
    page = page_of(out)
    assert "commit 0123456789ab" in page
    assert "longmatch evaluate --data tiny --models bm25\n" in page
    assert "longmatch evaluate --data tiny --models sdr-plain --split test --limit-queries 1 --out out" in page
    assert "all-MiniLM-L6-v2" in page


def test_both_protocols_have_a_table_each(page_of, make_data: Make, tmp_path: Path) -> None:
    evaluate([make_data(qrels=QRELS, pairs=PAIRS)], [], out=tmp_path / "out", protocol="both")
    page = page_of(tmp_path / "out")
    for head in ("## All sets, ranking", "## All sets, pairs", "### Ranking", "### Pairs"):
        assert head in page
    assert page.index("| model | nDCG@10 | nDCG@20 | MRR |") < page.index("| model | F1 | accuracy |")


def test_seeds_gains_and_shuffled_sections_are_on_the_page(page_of, make_data, save_colde, tmp_path: Path) -> None:
    models = [str(save_colde(f"m{seed}", seed)) for seed in (1, 2)]
    evaluate([make_data(qrels=QRELS)], models, out=tmp_path / "out", shuffle_sections=True)
    page = page_of(tmp_path / "out")
    row = next(line for line in page.splitlines() if line.startswith("| colde |") and "1, 2" in line)
    assert "±" in row
    assert "Trained rows compared with tfidf, bm25 and the best untrained row:" in page
    assert "## tiny-shuffled" in page
    assert "Compared with the same model over sections in their original order:" in page
    assert str(tmp_path) not in page


def test_rows_of_which_only_the_numbers_are_at_hand_keep_them_and_are_named(tmp_path: Path) -> None:
    first = lost("a", 0.5, marks={"F1": "+*"}, places={"F1": 0})
    second = lost("b steps=3", 0.5, places={"F1": 1}, seeds=[1, 2], deviations={"F1": 0.0123})
    second |= {"against_tfidf": {"F1": {"difference": -0.25, "p": 0.001}}, "against_best_untrained": {}}
    group = ResultGroup("set", "test", None, [second, first])
    page = write_page(StoredResults({group.name: group}, []))
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    assert "| a | **50.0**+\\* |" in page and "| b | 50.0±1.2 |" in page
    assert [line.split(" | ")[0] for line in lines if "0.0 to 0.0" in line] == ["| a", "| b"]
    assert "| b | F1 | -25.0 (p = 0.0010) |  |  |" in page
    assert "Only the numbers are available for all rows." in page
    group.rows[1].pop("marks")
    assert "Only the numbers are available for b." in write_page(StoredResults({group.name: group}, []))


def test_the_page_in_the_repository_is_what_the_stored_results_give() -> None:
    page = ROOT / "docs" / "benchmarks.md"
    assert write_page(StoredResults.load(ROOT / "benchmarks" / "results")) == page.read_text(encoding="utf-8")
