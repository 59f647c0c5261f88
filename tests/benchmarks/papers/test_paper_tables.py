"""The rows of the papers' tables and figures are among the stored results."""

import pytest
from benchmarks.papers.figures import study_points
from benchmarks.papers.stored_results import ResultGroup, StoredResults

from longmatch.lab.evaluation.measures import parse
from longmatch.lab.evaluation.paper_rows import SMITH_TABLES, STUDIES, colde_rows, near_rows, near_studies
from tests.lab.evaluation.test_result_rows import run

f1 = parse("F1")


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
