"""Conditions: what is one, what is refused with a position, and what a real store finds by their SQL."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longmatch.default.matcher import HybridMatcher
from longmatch.library.conditions import (
    COLUMNS,
    DEEPEST,
    GRAMMAR,
    KEYWORDS,
    LONGEST,
    LONGEST_PATTERN,
    MOST_TESTS,
    Condition,
    Value,
    parse,
)
from longmatch.library.errors import LibraryError
from longmatch.library.finding import absent_keys, left_out
from longmatch.library.library import Library
from tests.library.tiny import made_up_text

METADATA: list[dict[str, object]] = [
    {"year": 2019, "author": "Doe", "open": True, "a.b": 1, "tags": ["x", "y"], "more": {"k": "v"}},
    {"year": "2020", "open": "true", "author": 'He said "no"\n\\ 100%', "date": "2020-02-01"},
    {"year": "in press", "open": False, "author": "doe_ray"},
    {"year": 2021.5, "größe": 3, "in": 1},
    {"year": None, "author": ""},
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = TEXTS | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
KEYS = st.from_regex(r"[^\W\d]\w{0,5}(\.\w{1,3})?", fullmatch=True).filter(lambda name: name.upper() not in KEYWORDS)
NAMES = st.sampled_from([*COLUMNS, "year", "author", "tags", "metadata.title"]) | KEYS


def _value(value: Value) -> str:
    return str(value).upper() if not isinstance(value, str) else "'" + value.replace("'", "''") + "'"


LITERALS, LITERAL_TEXTS = VALUES.map(_value), TEXTS.map(_value)
TESTS = st.one_of(  # each a condition as a user writes it
    st.builds("{} {} {}".format, NAMES, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), LITERALS),
    st.builds("{} IN ({})".format, NAMES, st.lists(LITERALS, min_size=1, max_size=4).map(", ".join)),
    st.builds("{} BETWEEN {} AND {}".format, NAMES, LITERALS, LITERALS),
    st.builds("{} {} {}".format, NAMES, st.sampled_from(["LIKE", "ILIKE", "contains"]), LITERAL_TEXTS),
    st.builds("{} IS NULL".format, NAMES),
)


def _parts(conditions: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bracketed = conditions.map("({})".format)
    joined = st.builds(str.join, st.sampled_from([" AND ", " OR "]), st.lists(bracketed, min_size=2, max_size=3))
    return joined | bracketed.map("NOT {}".format)


CONDITIONS = st.recursive(TESTS, _parts, max_leaves=6)


def refusal(where: str) -> str:
    with pytest.raises(LibraryError) as error:
        parse(where)
    assert "\n" not in str(error.value)
    return str(error.value)


@given(CONDITIONS, CONDITIONS)
def test_a_condition_means_the_same_wherever_it_stands(one: str, other: str) -> None:
    first, second = parse(one).sql, parse(other).sql
    assert parse(f"(({one}))").sql == first
    assert parse(f"NOT ({one})").sql == f"(NOT {first})"
    assert parse(f"({one}) OR ({other})").sql == f"({first} OR {second})"
    assert parse(f"({one}) AND ({other})").sql == f"({first} AND {second})"


WORDS = st.sampled_from([*"()=<>,;:'\"~$-/*", "NOT", "AND", "OR", "IN", "IS", "NULL", "'a'", "1", "title", "--", "/*"])


@given(st.text() | st.lists(WORDS).map(" ".join) | st.lists(WORDS).map("".join))
def test_anything_is_a_condition_or_is_refused_in_one_sentence(where: str) -> None:
    try:
        assert isinstance(parse(where), Condition)
    except LibraryError as error:
        assert "is not understood at character" in str(error) and "\n" not in str(error)
        str(error).encode()


@pytest.mark.parametrize(
    ("where", "sql"),
    [
        ("words>2019", "TRY_CAST(words AS DOUBLE) > 2019.0"),
        ("words != -1.5e3", "TRY_CAST(words AS DOUBLE) <> -1500.0"),
        ("words == .5", "TRY_CAST(words AS DOUBLE) = 0.5"),
        ("title = 'it''s'", "title = 'it''s'"),
        ("title = '='", "title = '='"),
        ("title = true", "title = 'true'"),
        ("source is not null", "(NOT source IS NULL)"),
        ("id not between '2019-01-01' and '2020'", "(NOT (id >= '2019-01-01' AND id <= '2020'))"),
        ("id in (2019, '2020')", "(TRY_CAST(id AS DOUBLE) IN (2019.0) OR id IN ('2020'))"),
        ("title not like 'B%'", "(NOT title LIKE 'B%')"),
        ("title contains 'é_' or not id < 'a'", "(title ILIKE '%é\\_%' OR (NOT id < 'a'))"),
        ("id = 'a' AND id = 'b' OR id = 'c'", "((id = 'a' AND id = 'b') OR id = 'c')"),
        ("id = 'a' OR id = 'b' AND NOT id = 'c'", "(id = 'a' OR (id = 'b' AND (NOT id = 'c')))"),
    ],
)
def test_a_condition_reads_as_in_sql(where: str, sql: str) -> None:
    assert parse(where).sql == sql


def test_a_key_of_the_metadata_is_seen_as_a_text_or_as_a_number() -> None:
    as_text = parse("metadata.größe.b = 'x'").sql.removesuffix(" = 'x'")
    assert "'$.\"größe.b\"'" in as_text and as_text.startswith("COALESCE(")
    assert parse("größe.b = 1").sql == f"TRY_CAST({as_text} AS DOUBLE) = 1.0"


@pytest.mark.parametrize(
    ("where", "position"),
    [
        ("words > 0 /* ' */ AND repeat(title, 1000000) <> title /* ' */", 11),
        ("words > 0 -- '\n AND repeat(title, 9) <> ''", 11),
        ("repeat(title, 9) = ''", 7),
        ("words::varchar = '1'", 6),
        ("title ~ 'x'", 7),
        ("title = $1", 9),
        ("words > 1; DROP TABLE documents", 10),
        ("id IN (SELECT id)", 8),
        ("words", 6),
        ("year + 1", 6),
        ("year >", 7),
        ("title = 'x", 9),
        ('title = "x"', 9),
        ("year = 1e999", 8),
        ("2019 < year", 1),
        ("()", 2),
        ("(year = 1", 10),
        ("", 1),
    ],
)
def test_what_is_no_condition_is_refused_where_it_stops_being_one(where: str, position: int) -> None:
    said = refusal(where)
    assert f"is not understood at character {position}: " in said and said.endswith(GRAMMAR)


def test_a_metadata_key_may_have_the_name_of_a_column_or_a_keyword() -> None:
    assert parse("metadata.title = 'x' AND metadata.in = 1 AND title = 'x'").keys == ["title", "in"]


@pytest.mark.parametrize("part", ["'d0001', ", "year IS NOT NULL, ", "'", "''", "(", "NOT ", "a=1 OR ", "-", " ", "9"])
def test_a_long_condition_is_parsed_in_linear_time(part: str) -> None:
    start = time.process_time()
    for where in (f"id IN ({part * 16_000}'')", f"{part * 16_000}"):
        try:
            parse(where)
        except LibraryError as error:
            assert len(str(error)) < 1000
    assert time.process_time() - start < 3


def test_depth_comparisons_and_lengths_are_bounded() -> None:
    deep = "(" * DEEPEST + "a = 1" + ")" * DEEPEST
    assert parse(deep) == parse("a = 1")
    assert f"more than {DEEPEST} brackets" in refusal(f"({deep})") and "brackets" in refusal("NOT " * 99_999)
    assert f"more than {MOST_TESTS:,} comparisons" in refusal("a = 1" + " OR a = 1" * MOST_TESTS)
    assert f"{LONGEST_PATTERN:,} characters" in refusal(f"a contains '{'x' * (LONGEST_PATTERN + 1)}'")
    assert f"longer than {LONGEST:,}" in refusal(" " * (LONGEST + 1))


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
    return " ".join(sorted(library.store.ids_where(where)))


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
def test_no_condition_fails_whatever_the_documents_hold(described: Library, where: str) -> None:
    described.store.ids_where(where)


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
    described.store.ids_where(where)


def test_documents_that_lack_a_value_are_counted_by_its_key(described: Library, tmp_path: Path) -> None:
    assert absent_keys(described.store, "metadata.in = 1 OR yeer = 2 OR year = 3") == ["yeer"]
    assert left_out(described.store, "year > 2019") == ("1 of 5 documents has no year and was left out.",)
