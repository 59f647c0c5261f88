"""docs/benchmarks.md and docs/results are made from what evaluations wrote alone."""

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.papers.page import FamilyTable, differences, main, takeaways, write_pages
from benchmarks.papers.row_names import readable_names
from benchmarks.papers.set_page import write_set_page
from benchmarks.papers.stored_results import ResultGroup, StoredResults

from longmatch.lab.evaluation.evaluate import evaluate
from longmatch.lab.evaluation.provenance import commit_of
from tests.benchmarks.papers.test_stored_results import lost

ROOT = Path(__file__).parents[3]
Make = Callable[..., Path]
QRELS = [("test", "boats", "ships", 1), ("test", "bread", "cakes", 1)]
PAIRS = [("validation", "boats", "ships", 1), ("validation", "boats", "stars", 0)]
PAIRS += [("test", "bread", "cakes", 1), ("test", "bread", "stars", 0), ("test", "cakes", "boats", 0)]


@pytest.fixture
def pages_of() -> Callable[[Path], dict[str, str]]:
    def write(out: Path) -> dict[str, str]:
        """With the folder, and once more from what was kept of it."""
        kept = ["--results", str(out / "kept"), "--to", str(out / "docs")]
        main([str(out), *kept])
        pages = read_pages(out / "docs")
        main(kept)
        assert read_pages(out / "docs") == pages
        return pages

    return write


def read_pages(docs: Path) -> dict[str, str]:
    files = [docs / "benchmarks.md", *sorted((docs / "results").glob("*.md"))]
    return {file.relative_to(docs).as_posix(): file.read_text(encoding="utf-8") for file in files}


def stored_provenance(out: Path) -> list[dict]:
    return json.loads(lzma.decompress((out / "kept" / "about.json.xz").read_bytes()))


def test_every_set_has_a_page_with_every_row_and_provenance_is_in_json_alone(pages_of, make_data, tmp_path) -> None:
    out = tmp_path / "out"
    evaluate([make_data(qrels=QRELS, name=name) for name in ("one", "two")], [], out=out, fidelity=1)
    (about,) = json.loads((out / "about.json").read_text(encoding="utf-8"))
    pages = pages_of(out)
    (kept,) = stored_provenance(out)
    assert list(pages) == ["benchmarks.md", "results/one.md", "results/two.md"]
    assert about["command"] == "longmatch evaluate --data one two --split test --fidelity 1 --out out"
    assert kept["command"] == about["command"] and kept["machine"] == about["machine"]
    assert kept["commit"] == (about["commit"] or commit_of(about["code"]))
    assert kept["rows"] == {name: ["bm25", "phrases", "tfidf"] for name in ("one", "two")}
    assert not any(about["command"] in page for page in pages.values())
    for model in ("BM25", "TF-IDF of phrases", "TF-IDF"):
        assert pages["benchmarks.md"].count(f"| {model} |") == 1
        assert pages["results/one.md"].count(f"| {model} |") == 3  # measures, explanations, details


def test_a_page_of_a_set_that_is_no_longer_stored_is_removed(pages_of, make_data, tmp_path: Path) -> None:
    (tmp_path / "out" / "docs" / "results").mkdir(parents=True)
    (tmp_path / "out" / "docs" / "results" / "gone.md").write_text("# Results on gone\n", encoding="utf-8")
    evaluate([make_data(qrels=QRELS)], [], out=tmp_path / "out")
    assert "results/gone.md" not in pages_of(tmp_path / "out")


def test_evaluations_of_different_commits_are_each_named(pages_of, make_data: Make, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate([make_data(qrels=QRELS)], [], out=out)
    run = out / "runs" / "tiny.test.bm25.json"
    found = json.loads(run.read_text(encoding="utf-8"))
    found["made"] |= {"commit": "0123456789ab", "command": "longmatch evaluate --data tiny --models bm25"}
    run.write_text(json.dumps(found), encoding="utf-8")
    evaluate([out.parent / "data" / "tiny"], ["sdr-plain"], out=out, limit_queries=1)
    pages_of(out)
    kept = {
        entry["command"]: entry for entry in json.loads(lzma.decompress((out / "kept" / "about.json.xz").read_bytes()))
    }
    assert kept["longmatch evaluate --data tiny --models bm25"]["commit"] == "0123456789ab"
    newer = kept["longmatch evaluate --data tiny --models sdr-plain --split test --limit-queries 1 --out out"]
    assert newer["weights"][0]["name"] == "all-MiniLM-L6-v2"


def test_both_protocols_have_a_table_each_and_equal_columns_are_shown_once(pages_of, make_data, tmp_path) -> None:
    evaluate([make_data(qrels=QRELS, pairs=PAIRS)], [], out=tmp_path / "out", protocol="both")
    pages = pages_of(tmp_path / "out")
    assert pages["benchmarks.md"].index("## Ranking: nDCG@10") < pages["benchmarks.md"].index("## Pairs: F1")
    page = pages["results/tiny.md"]
    assert page.index("| model | nDCG@10 | nDCG@20 | MRR |") < page.index("| model | F1 | accuracy |")
    assert "| HR@100 |" in page and "recall@100" not in page


def test_seeds_gains_and_shuffled_sections_are_on_the_pages(pages_of, make_data, save_colde, tmp_path: Path) -> None:
    models = [str(save_colde(f"m{seed}", seed)) for seed in (1, 2)]
    evaluate([make_data(qrels=QRELS)], models, out=tmp_path / "out", shuffle_sections=True)
    pages = pages_of(tmp_path / "out")
    page = pages["results/tiny.md"]
    assert any(line.startswith("| CoLDE |") and "±" in line for line in page.splitlines())
    assert "| CoLDE | `colde" in page and "| 1, 2 |" in page
    assert "nDCG@10 compared with TF-IDF, BM25 and the best untrained row:" in page
    assert "Compared with the same model over sections in their original order:" in pages["results/tiny-shuffled.md"]
    assert not any(str(tmp_path) in page for page in pages.values())


def test_rows_of_which_only_the_numbers_are_at_hand_keep_them_and_are_named(tmp_path: Path) -> None:
    first = lost("a", 0.5, marks={"F1": "+*"}, places={"F1": 0})
    second = lost("b steps=3", 0.5, places={"F1": 1}, seeds=[1, 2], deviations={"F1": 0.0123})
    second |= {"against_tfidf": {"F1": {"difference": -0.25, "p": 0.001}}, "against_best_untrained": {}}
    group = ResultGroup("set", "test", None, [second, first])
    page = write_set_page(group)
    lines = [line for line in page.splitlines() if "0.0 to 0.0" in line]
    assert [line.split(" | ")[0] for line in lines] == ["| a", "| b"]
    assert "| a | **50.0**+\\* |" in page and "| b | 50.0±1.2 |" in page
    assert "| b | -25.0 (p = 0.0010) |  |  |  |" in page
    assert page.count("| no |") == 2
    group.rows[1].pop("marks")
    assert write_set_page(group).count("| no |") == 1


def test_a_family_shows_its_best_row_of_each_set_and_none_of_a_study() -> None:
    rows = [lost("colde steps=1", 0.4), lost("colde steps=2", 0.6), lost("tfidf", 0.5)]
    rows += [lost("colde steps=9", 0.9, study={"name": "steps"}), lost("colde sections=5", 0.8)]
    table = FamilyTable.of([ResultGroup("set", "test", None, rows)], ranking=False)
    assert table.value("CoLDE", "set") == 0.6 and table.best("set") == "CoLDE"
    assert list(table.rows) == ["TF-IDF", "CoLDE"]


def test_the_takeaways_are_counted_from_the_rows() -> None:
    one = [ranked("default", 0.5), ranked("tfidf", 0.4), ranked("sdr", 0.3), ranked("colde steps=9", 0.6, seeds=[1])]
    two = [ranked("default", 0.3), ranked("tfidf", 0.4), ranked("sdr", 0.2)]
    two += [ranked("colde steps=9", 0.2, seeds=[1]), ranked("colde backbone=raw-lm steps=9", 0.1, seeds=[1])]
    groups = [ResultGroup(name, "test", None, rows) for name, rows in (("one", one), ("two", two))]
    ranking, pairs = (FamilyTable.of(groups, kind) for kind in (True, False))
    found = takeaways(ranking, pairs, groups)
    assert "better than TF-IDF on 1 of 2 sets** (-10.0 to +10.0 points of nDCG@10), and" in found[0]
    assert "every other row on 0 of 2." in found[0]
    assert (
        "best F1 on 0 of 2 sets.** Better elsewhere: CoLDE on one (60.0, the default 50.0); TF-IDF on two" in found[1]
    )
    assert "Of the trained models 1 of 2 beat TF-IDF on pairs, and 1 of 2 in ranking" in found[2]
    assert "rank below TF-IDF on all 2 sets** (-20.0 to -10.0 points" in found[3]
    assert "higher than from raw-lm in all 1 comparisons** (+10.0 to +10.0" in found[4]


def ranked(model: str, value: float, **more: object) -> dict:
    row = lost(model, value, **more)
    return row | {"measures": {"nDCG@10": value, "F1": value}}


def test_the_pages_in_the_repository_are_what_the_stored_results_give(published: StoredResults) -> None:
    assert write_pages(published) == read_pages(ROOT / "docs")


def test_what_the_readme_says_of_the_default_holds(published: StoredResults) -> None:
    assert "ranks above TF-IDF on all six ranking benchmarks" in (ROOT / "README.md").read_text(encoding="utf-8")
    ranking = FamilyTable.of(published.groups.values(), ranking=True)
    gains = differences(ranking, "Default", "TF-IDF")
    assert len(gains) == 6 and min(gains.values()) > 0


def test_the_rows_of_a_set_have_names_of_their_own(published: StoredResults) -> None:
    for group in published.groups.values():
        names = readable_names(row["model"] for row in group.rows)
        assert len(set(names.values())) == len(group.rows)
        assert not any("=" in name for name in names.values())
