"""Tables, marks, plots, and the command itself."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.console import Console
from typer.testing import CliRunner

from longmatch.cli.app import app
from longmatch.lab.evaluation.measures import QueryResult, RankingMeasure, parse, parse_all
from longmatch.lab.evaluation.report import print_rows, to_markdown
from longmatch.lab.evaluation.report_files import by_length
from longmatch.lab.evaluation.result_rows import ResultRow, make_rows
from longmatch.lab.evaluation.runs import ModelRun, load_runs

Make = Callable[..., Path]


def made_up(model: str, ranks: list[int], trained: int | None = None) -> ModelRun:
    one = np.ones(1, dtype=np.int64)
    answers = {f"q{i:02d}": QueryResult(one * rank, one, one, 50) for i, rank in enumerate(ranks)}
    words = {query: 100 * (i + 1) for i, query in enumerate(answers)}
    return ModelRun("set", model, "test", 0, None, {}, answers, None, (), 50, {}, 0.5, 1.0, "CPU", words, trained)


GOOD, MIDDLING, POOR = [1] * 24, [2] * 24, [3, 4] * 12


def rows() -> list[ResultRow]:
    runs = [made_up("tfidf", MIDDLING), made_up("better", GOOD), made_up("worse", POOR)]
    return make_rows(runs, parse_all("MRR,nDCG@10"))


def test_the_best_value_is_bold_and_marks_tell_what_is_significant() -> None:
    lines = to_markdown(rows()).splitlines()
    assert r"| better | **100.0**+\* | **100.0**+\* | 10.0 | 0 |" in lines
    assert "| tfidf | 50.0 | 63.1 | 10.0 | 0 |" in lines
    assert any(line.startswith("| worse | 29.2- |") for line in lines)


def test_a_row_of_several_seeds_shows_mean_and_deviation_and_is_marked_against_the_untrained() -> None:
    seeds = [made_up("colde", ranks, seed) for seed, ranks in enumerate([[1] * 24, [1] * 18 + [2] * 6])]
    found = make_rows([made_up("tfidf", MIDDLING), *seeds], parse_all("MRR"))
    lines = to_markdown(found).splitlines()
    assert r"| colde | **93.8±8.8**+^\* | 10.0 | 0 |" in lines  # 100.0 and 87.5
    assert "| tfidf | 50.0 | 10.0 | 0 |" in lines
    assert any("mean and standard deviation" in line and "trained row" in line for line in lines)


def test_a_trained_row_is_compared_with_the_best_row_that_was_not_trained() -> None:
    runs = [made_up("tfidf", POOR), made_up("phrases", MIDDLING), made_up("a", GOOD, 1), made_up("b", GOOD, 1)]
    found = {row.model: row for row in make_rows(runs, parse_all("MRR"))}
    assert found["a"].best_untrained["MRR"][0] == "phrases"
    assert found["a"].best_other["MRR"][0] == "b"
    assert found["a"].best_untrained["MRR"][1].significant
    assert not found["phrases"].best_untrained


def test_the_terminal_table_fits_eighty_columns() -> None:
    console = Console(width=80, record=True)
    seeds = [made_up("colde contrastive=False", ranks, seed) for seed, ranks in enumerate([GOOD, MIDDLING])]
    names = "nDCG@10,MRR,MAP,MPR,HR@10,HR@100"
    print_rows(make_rows([*(row.run for row in rows()), *seeds], parse_all(names)), console)
    assert max(map(len, console.export_text().splitlines())) <= 80
    print_rows(rows(), console)
    text = console.export_text()
    assert "100.0+*" in text
    assert max(map(len, text.splitlines())) <= 80


def test_equal_rows_are_marked_neither_better_nor_worse() -> None:
    twins = make_rows([made_up("tfidf", GOOD), made_up("twin", GOOD)], parse_all("MRR"))
    assert to_markdown(twins).count("**100.0** |") == 2


def test_a_run_is_read_back_as_it_was_saved(tmp_path: Path) -> None:
    run = made_up("tfidf", POOR)
    run.save(tmp_path)
    (found,) = load_runs(tmp_path)
    measure = parse("MRR")
    assert isinstance(measure, RankingMeasure)
    assert [measure(a) for a in found.answers.values()] == [measure(a) for a in run.answers.values()]
    assert (found.words, found.model, found.device) == (run.words, run.model, run.device)


def test_quality_by_length_takes_equally_many_queries_a_bin() -> None:
    measure = parse("MRR")
    assert isinstance(measure, RankingMeasure)
    row = ResultRow([made_up("m", [1] * 12 + [2] * 12)], {})
    lengths, values = by_length(row, measure)
    assert lengths == [350.0, 950.0, 1550.0, 2150.0]
    assert values == [1.0, 1.0, 0.5, 0.5]


def test_the_command_takes_several_folders_after_data_and_writes_results(make_data: Make, tmp_path: Path) -> None:
    qrels = [("test", "boats", "ships", 1)]
    folders = [str(make_data(name=name, qrels=qrels)) for name in ("one", "two")]
    out = str(tmp_path / "out")
    found = CliRunner().invoke(app, ["evaluate", "--data", *folders, "--models", "tfidf", "--out", out])
    assert found.exit_code == 0, found.output
    assert "one, test: 1 queries" in found.output
    assert "two, test: 1 queries" in found.output
    assert {run.data for run in load_runs(tmp_path / "out")} == {"one", "two"}
    assert (tmp_path / "out" / "about.json").is_file()


def test_the_command_names_the_protocols_there_are(make_data: Make, tmp_path: Path) -> None:
    folder = str(make_data(qrels=[("test", "boats", "ships", 1)]))
    found = CliRunner().invoke(app, ["evaluate", "--data", folder, "--protocol", "all", "--out", str(tmp_path / "o")])
    assert found.exit_code != 0
    assert str(found.exception) == "There is no protocol all. Name one of auto, ranking, pairs, both."
