"""What is a condition, and what is refused with a position."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.library.conditions.parse import DEEPEST, GRAMMAR, LONGEST, LONGEST_PATTERN, MOST_TESTS, parse
from longmatch.library.conditions.tree import Between, Comparison, Condition, Contains, IsNull, Joined, Like, Not, OneOf
from longmatch.library.errors import LibraryError
from tests.library.conditions.trees import CONDITIONS, written


def refusal(where: str) -> str:
    with pytest.raises(LibraryError) as error:
        parse(where)
    assert "\n" not in str(error.value)
    return str(error.value)


@given(CONDITIONS)
def test_a_written_condition_is_parsed_to_the_tree_it_was_written_from(condition: Condition) -> None:
    assert parse(written(condition)) == condition


WORDS = st.sampled_from([*"()=<>,;:'\"~$-/*", "NOT", "AND", "OR", "IN", "IS", "NULL", "'a'", "1", "title", "--", "/*"])


@given(st.text() | st.lists(WORDS).map(" ".join) | st.lists(WORDS).map("".join))
def test_anything_is_a_condition_or_is_refused_in_one_sentence(where: str) -> None:
    try:
        assert isinstance(parse(where), Condition)
    except LibraryError as error:
        assert "is not understood at character" in str(error) and "\n" not in str(error)
        str(error).encode()


@pytest.mark.parametrize(
    ("where", "tree"),
    [
        ("year>2019", Comparison("year", ">", 2019.0)),
        ("year != -1.5e3", Comparison("year", "<>", -1500.0)),
        ("year == .5", Comparison("year", "=", 0.5)),
        ("title = 'it''s'", Comparison("title", "=", "it's")),
        ("title = '='", Comparison("title", "=", "=")),
        ("open = true", Comparison("open", "=", True)),
        ("a.b.c is not null", Not(IsNull("a.b.c"))),
        ("date not between '2019-01-01' and '2020'", Not(Between("date", "2019-01-01", "2020"))),
        ("year in (2019, '2020')", OneOf("year", (2019.0, "2020"))),
        ("title not like 'B%'", Not(Like("title", "B%"))),
        ("autor contains 'é' or not Jahr < 1", None),
        ("a = 1 AND b = 2 OR c = 3", None),
    ],
)
def test_a_condition_reads_as_in_sql(where: str, tree: Condition | None) -> None:
    if "autor" in where:
        tree = Joined("OR", (Contains("autor", "é"), Not(Comparison("Jahr", "<", 1.0))))
    elif tree is None:
        first = Joined("AND", (Comparison("a", "=", 1.0), Comparison("b", "=", 2.0)))
        tree = Joined("OR", (first, Comparison("c", "=", 3.0)))
    assert parse(where) == tree


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
    assert parse(deep) == Comparison("a", "=", 1.0)
    assert f"more than {DEEPEST} brackets" in refusal(f"({deep})") and "brackets" in refusal("NOT " * 99_999)
    assert f"more than {MOST_TESTS:,} comparisons" in refusal("a = 1" + " OR a = 1" * MOST_TESTS)
    assert f"{LONGEST_PATTERN:,} characters" in refusal(f"a contains '{'x' * (LONGEST_PATTERN + 1)}'")
    assert f"longer than {LONGEST:,}" in refusal(" " * (LONGEST + 1))
