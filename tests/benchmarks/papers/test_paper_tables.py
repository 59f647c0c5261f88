"""A paper's table is computed from the stored runs."""

import pytest
from benchmarks.papers.colde_robustness import study_points
from benchmarks.papers.colde_rows import STUDIES, colde_rows
from benchmarks.papers.near_rows import near_rows, near_studies
from benchmarks.papers.paper_tables import PaperTable, pooled_row
from benchmarks.papers.smith_rows import SMITH_TABLES
from benchmarks.papers.stored_results import ResultGroup, StoredResults

from longmatch.lab.evaluation.measures import parse
from longmatch.lab.evaluation.result_rows import Comparer, make_rows
from tests.lab.evaluation.test_result_rows import run

f1 = parse("F1")
GROUP = ResultGroup("set", "test", runs=[run("ours", 1), run("ours steps=100", 2), run("other", 1)])
TABLE = PaperTable("Two", {"F1": "F1", "MRR": "MRR"}, ("F1",), {"Ours": ["ours", "ours steps=100"], "Other": ["other"]})


def test_seeds_of_rows_whose_budget_is_given_in_two_ways_are_pooled() -> None:
    row = pooled_row(GROUP, "Ours", TABLE.rows["Ours"])
    each = [made.measures["F1"] for made in make_rows(GROUP.runs) if made.model.startswith("ours")]
    assert row is not None and row.seeds == [1, 2]
    assert row.measures["F1"] == pytest.approx(sum(each) / 2)
    assert pooled_row(GROUP, "none", ["missing"]) is None


def test_a_table_has_every_measure_and_tests_each_row_against_the_first() -> None:
    title, _, head, rule, first, second, end = TABLE.lines(GROUP)
    ours, other = (pooled_row(GROUP, label, names) for label, names in TABLE.rows.items())
    assert ours and other
    p = Comparer().compare(other, ours, parse("F1")).p
    assert (title, end) == ("Two, set:", "")
    assert head == "| | F1 | p | MRR | seeds |" and rule.count("---:") == 4
    assert first == f"| Ours | {100 * ours.measures['F1']:.1f} | | {100 * ours.measures['MRR']:.1f} | 2 |"
    shown = second.split(" | ")
    assert shown[1] == f"{100 * other.measures['F1']:.1f}"
    assert shown[2] == "< .001" if p < 0.001 else float(shown[2]) == pytest.approx(p, abs=0.006)


def test_rows_can_be_tested_against_another_one() -> None:
    lines, turned = TABLE.lines(GROUP), TABLE.starting_with("Other").lines(GROUP)
    assert [line.split(" | ")[0] for line in turned[4:6]] == ["| Other", "| Ours"]
    assert turned[4].count("| |") == 1  # no p of its own
    assert turned[5].split(" | ")[2] == lines[5].split(" | ")[2]  # the p of the same two rows
    assert TABLE.starting_with("none") == TABLE


def test_a_set_on_which_the_method_was_not_measured_has_no_table() -> None:
    assert TABLE.lines(ResultGroup("set", "test", runs=[run("other", 1)])) == []


def test_a_row_that_none_is_compared_with_has_no_table() -> None:
    assert TABLE.lines(ResultGroup("set", "test", runs=[run("ours", 1)])) == []


def test_every_row_of_smiths_tables_is_stored(published: StoredResults) -> None:
    stored = {each.model for each in published.groups["acl.test"].runs}
    named = {label: names for rows in SMITH_TABLES.values() for label, names in rows.items()}
    assert [label for label, names in named.items() if not stored & set(names)] == []


def test_a_study_contains_the_points_that_were_measured() -> None:
    study = STUDIES["documents in a batch"]
    colde, other = run(colde_rows()["CoLDE"][1], 1), run(study["200"][0], 1)
    group = ResultGroup("acl", "test", runs=[colde, run(colde.model, 2), other])
    points = {"100": f1(colde.verdicts), "200": f1(other.verdicts)}  # of the seed that both have
    assert study_points(group, study, "F1") == pytest.approx(points)


def test_every_point_of_coldes_studies_is_stored(published: StoredResults) -> None:
    stored = {each.model for each in published.groups["acl.test"].runs if each.trained == 1}
    points = {(setting, value): names for setting, study in STUDIES.items() for value, names in study.items()}
    assert [point for point, names in points.items() if not stored & set(names)] == []


def test_every_row_on_near_pairs_is_stored_but_those_not_trained_yet(published: StoredResults) -> None:
    stored = {each.model for each in published.groups["acl-near.test"].runs}
    tables = near_studies() | {"Near pairs": near_rows()}
    missing = [f"{title}: {label}" for title, rows in tables.items() for label in rows if not stored & set(rows[label])]
    assert missing == [
        "Sentences of a document (figure 5): 200",
        "Sentences of a subtopic (figure 6): 3",
        "Sentences of a subtopic (figure 6): 12",
    ]
