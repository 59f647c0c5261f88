"""A paper's table is computed from the stored runs."""

import pytest

from longmatch.lab.evaluation.measures import parse
from longmatch.lab.evaluation.paper_tables import PaperTable, pooled_row
from longmatch.lab.evaluation.result_rows import Comparer, make_rows
from tests.lab.evaluation.test_result_rows import run

RUNS = [run("ours", 1), run("ours steps=100", 2), run("other", 1)]
TABLE = PaperTable("Two", {"F1": "F1", "MRR": "MRR"}, ("F1",), {"Ours": ["ours", "ours steps=100"], "Other": ["other"]})


def test_seeds_of_rows_whose_budget_is_given_in_two_ways_are_pooled() -> None:
    row = pooled_row(RUNS, "Ours", TABLE.rows["Ours"])
    each = [made.measures["F1"] for made in make_rows(RUNS) if made.model.startswith("ours")]
    assert row is not None and row.seeds == [1, 2]
    assert row.measures["F1"] == pytest.approx(sum(each) / 2)
    assert pooled_row(RUNS, "none", ["missing"]) is None


def test_a_table_has_every_measure_and_tests_each_row_against_the_first() -> None:
    title, _, head, rule, first, second, end = TABLE.lines("set", RUNS)
    ours, other = (pooled_row(RUNS, label, names) for label, names in TABLE.rows.items())
    assert ours and other
    p = Comparer().compare(other, ours, parse("F1")).p
    assert (title, end) == ("Two, set:", "")
    assert head == "| | F1 | p | MRR | seeds |" and rule.count("---:") == 4
    assert first == f"| Ours | {100 * ours.measures['F1']:.1f} | | {100 * ours.measures['MRR']:.1f} | 2 |"
    shown = second.split(" | ")
    assert shown[1] == f"{100 * other.measures['F1']:.1f}"
    assert shown[2] == "< .001" if p < 0.001 else float(shown[2]) == pytest.approx(p, abs=0.006)


def test_rows_can_be_tested_against_another_one() -> None:
    lines, turned = TABLE.lines("set", RUNS), TABLE.starting_with("Other").lines("set", RUNS)
    assert [line.split(" | ")[0] for line in turned[4:6]] == ["| Other", "| Ours"]
    assert turned[4].count("| |") == 1  # no p of its own
    assert turned[5].split(" | ")[2] == lines[5].split(" | ")[2]  # the p of the same two rows
    assert TABLE.starting_with("none") == TABLE


def test_a_set_on_which_the_method_was_not_measured_has_no_table() -> None:
    assert TABLE.lines("set", [run("other", 1)]) == []


def test_a_row_that_none_is_compared_with_has_no_table() -> None:
    assert TABLE.lines("set", [run("ours", 1)]) == []
