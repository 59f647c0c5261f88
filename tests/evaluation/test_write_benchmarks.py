"""docs/benchmarks.md is made from what evaluations wrote alone."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path

from longmatch.evaluation.evaluate import evaluate
from longmatch.evaluation.made import commit_of

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "write_benchmarks.py"))
Make = Callable[..., Path]
QRELS = [("test", "boats", "ships", 1), ("test", "bread", "cakes", 1)]
PAIRS = [("validation", "boats", "ships", 1), ("validation", "boats", "stars", 0)]
PAIRS += [("test", "bread", "cakes", 1), ("test", "bread", "stars", 0), ("test", "cakes", "boats", 0)]


def page_of(out: Path) -> str:
    SCRIPT["main"]([str(out), "--to", str(out / "benchmarks.md")])
    return (out / "benchmarks.md").read_text(encoding="utf-8")


def test_the_page_has_every_row_with_machine_code_and_the_command_that_ran(make_data: Make, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate([make_data(qrels=QRELS, name=name) for name in ("one", "two")], [], out, fidelity=1)
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


def test_evaluations_of_different_commits_are_each_named(make_data: Make, tmp_path: Path) -> None:
    out = tmp_path / "out"
    evaluate([make_data(qrels=QRELS)], [], out)
    run = out / "runs" / "tiny.test.bm25.json"
    found = json.loads(run.read_text(encoding="utf-8"))
    found["made"] |= {"commit": "0123456789ab", "command": "longmatch evaluate --data tiny --models bm25"}
    run.write_text(json.dumps(found), encoding="utf-8")
    evaluate([out.parent / "data" / "tiny"], ["sdr-plain"], out, limit=1)
    page = page_of(out)
    assert "commit 0123456789ab" in page
    assert "longmatch evaluate --data tiny --models bm25\n" in page
    assert "longmatch evaluate --data tiny --models sdr-plain --split test --limit-queries 1 --out out" in page
    assert "all-MiniLM-L6-v2" in page


def test_both_protocols_have_a_table_each(make_data: Make, tmp_path: Path) -> None:
    evaluate([make_data(qrels=QRELS, pairs=PAIRS)], [], tmp_path / "out", protocol="both")
    page = page_of(tmp_path / "out")
    for head in ("## All sets, ranking", "## All sets, pairs", "### Ranking", "### Pairs"):
        assert head in page
    assert page.index("| model | nDCG@10 | nDCG@20 | MRR |") < page.index("| model | F1 | accuracy |")


def test_seeds_gains_and_shuffled_sections_are_on_the_page(make_data: Make, save_colde: Make, tmp_path: Path) -> None:
    models = [str(save_colde(f"m{seed}", seed)) for seed in (1, 2)]
    evaluate([make_data(qrels=QRELS)], models, tmp_path / "out", shuffle_sections=True)
    page = page_of(tmp_path / "out")
    row = next(line for line in page.splitlines() if line.startswith("| colde |") and "1, 2" in line)
    assert "±" in row
    assert "Trained rows against tfidf, bm25, and the best row that was not trained:" in page
    assert "## tiny-shuffled" in page
    assert "Against the same model with all sections in their own order:" in page
    assert str(tmp_path) not in page


def test_a_row_measured_twice_is_taken_from_the_last_file(tmp_path: Path) -> None:
    row = {"data": "d", "split": "test", "queries": 1, "model": "m", "seed": 0, "pairs": 0, "documents": 2}
    row |= {"intervals": {}, "against_tfidf": {}, "against_best_other": {}, "seconds_per_document": 0.0}
    row |= {"unhandled": 0, "device": "CPU"}
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file, value in zip(files, (0.111, 0.222), strict=True):
        file.write_text(json.dumps([row | {"measures": {"nDCG@10": value}}]), encoding="utf-8")
    page = SCRIPT["write_page"](files)
    assert "22.2" in page
    assert "11.1" not in page
    assert page.count("Rows of which it was not recorded what made them:") == 1
