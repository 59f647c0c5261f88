"""The SQL of a condition, run by a real store: it finds what it says, and cannot fail."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from longmatch.default.matcher import HybridMatcher
from longmatch.library.conditions.parse import DEEPEST, LONGEST_PATTERN, MOST_TESTS
from longmatch.library.conditions.tree import Condition
from longmatch.library.library import Library
from tests.library.conditions.trees import CONDITIONS, written
from tests.library.tiny import made_up_text

METADATA: list[dict[str, object]] = [
    {"year": 2019, "author": "Doe", "open": True, "a.b": 1, "tags": ["x", "y"], "more": {"k": "v"}},
    {"year": "2020", "open": "true", "author": 'He said "no"\n\\ 100%', "date": "2020-02-01"},
    {"year": "in press", "open": False, "author": "doe_ray"},
    {"year": 2021.5, "größe": 3, "in": 1},
    {"year": None, "author": ""},
]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory, tiny: HybridMatcher) -> Library:
    place = tmp_path_factory.mktemp("described")
    rows: list[dict[str, object]] = [
        {"id": f"r{n}", "text": made_up_text(n), **facts} for n, facts in enumerate(METADATA)
    ]
    (place / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    library = Library(place / "library", tiny)
    library.add(place / "rows.jsonl")
    return library


def found(library: Library, where: str) -> str:
    return " ".join(sorted(library._store.ids_where(where)))


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("year > 2019", "r1 r3"),
        ("NOT year > 2019", "r0"),
        ("year = '2019'", "r0"),
        ("year IN (2019, 'in press')", "r0 r2"),
        ("year NOT IN (2019, 'in press')", "r1 r3"),
        ("year BETWEEN 2019 AND 2020", "r0 r1"),
        ("year IS NULL", "r4"),
        ("year <> 2019", "r1 r3"),
        ("open = TRUE", "r0 r1"),
        ("open = FALSE", "r2"),
        ("open <> TRUE", "r2"),
        ("date >= '2020-01-01'", "r1"),
        ("author contains 'DOE'", "r0 r2"),
        ("author contains '_'", "r2"),
        ("author contains '%'", "r1"),
        ("author contains '\\'", "r1"),
        ("author contains '\"no\"'", "r1"),
        ("author LIKE 'D%' OR author ILIKE 'D__\\_%'", "r0 r2"),
        ("author = ''", "r4"),
        ("a.b = 1", "r0"),
        ("metadata.a.b = 1 AND metadata.open = TRUE", "r0"),
        ("metadata.in = 1", "r3"),
        ("größe > 2.5", "r3"),
        ("tags contains 'x'", "r0"),
        ("more contains 'k'", "r0"),
        ("nothing IS NULL AND NOT nothing = 1", ""),
        ("words > 1.5 AND words <= 1e300", "r0 r1 r2 r3 r4"),
        ("words LIKE '%' AND words <> 'none' AND id <> 5", ""),
        ("id IN ('r1', 'it''s')", "r1"),
        ("title = 'a' OR id LIKE 'r_' AND id > 'r2'", "r3 r4"),
    ],
)
def test_a_condition_finds_what_it_says(described: Library, where: str, ids: str) -> None:
    assert found(described, where) == ids


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CONDITIONS)
def test_no_condition_fails_whatever_the_documents_hold(described: Library, condition: Condition) -> None:
    described._store.ids_where(written(condition))


@pytest.mark.parametrize(
    "where",
    [
        "NOT (" * (DEEPEST // 2) + "tags IN (1, 'x') OR year BETWEEN 1 AND 2" + ") AND id = 'x'" * (DEEPEST // 2),
        "id = 'r1' AND (" * DEEPEST + "tags IN (1, 'x')" + ") OR year = 1" * DEEPEST,
        " OR ".join(["year > 2019"] * MOST_TESTS),
        " AND ".join(["id = 'r1' OR tags = 'x'"] * (MOST_TESTS // 2)),
        "id IN (" + ", ".join(f"'{n:040}'" for n in range(20_000)) + ")",
        *(f"author {word} '{sign * LONGEST_PATTERN}'" for word in ("LIKE", "contains") for sign in "%_\\kſß日"),
        f"author LIKE '{'%_' * (LONGEST_PATTERN // 2)}'",
    ],
)
def test_the_largest_conditions_are_answered(described: Library, where: str) -> None:
    described._store.ids_where(where)


def test_documents_that_lack_a_value_are_counted_by_its_key(described: Library, tmp_path: Path) -> None:
    assert described.absent_keys("metadata.in = 1 OR yeer = 2 OR year = 3") == ["yeer"]
    assert described.left_out("year > 2019") == ("1 of 5 documents has no year and was left out.",)
