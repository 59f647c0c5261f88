"""docs/benchmarks.md is made from results alone."""

import json
import runpy
from collections.abc import Callable
from pathlib import Path

from longmatch.evaluation.evaluate import evaluate

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "write_benchmarks.py"))


def test_the_page_has_every_row_with_machine_commit_and_command(make_data: Callable[..., Path], tmp_path: Path) -> None:
    qrels = [("test", "boats", "ships", 1), ("test", "bread", "cakes", 1)]
    out = tmp_path / "out"
    evaluate([make_data(qrels=qrels, name=name) for name in ("one", "two")], [], out, fidelity=1)
    about = json.loads((out / "about.json").read_text(encoding="utf-8"))
    SCRIPT["main"]([str(out), "--to", str(tmp_path / "benchmarks.md")])
    page = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert about["machine"] in page
    assert "longmatch evaluate --data one two --split test --fidelity 1 --out out" in page
    assert str(about["commit"]) in page
    for row in json.loads((out / "results.json").read_text(encoding="utf-8")):
        assert f"## {row['data']}" in page
        assert page.count(f"| {row['model']} |") == 5  # all sets; each set; each set's explanations


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
