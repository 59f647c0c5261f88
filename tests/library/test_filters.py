"""A user's condition as SQL, at a cost that its length bounds."""

import time

import pytest

from longmatch.library.filters import condition


@pytest.mark.parametrize(
    ("where", "type"),
    [
        ("year > 2019 AND author = 'Doe'", "float"),
        ("year = '2019'", "string"),
        ("year IN (2019, '2020')", "float"),
        ("year = TRUE OR words > 9", "bool"),
        ("year IS NULL AND words > 9", "string"),
        ("year IS NULL", "string"),
    ],
)
def test_a_metadata_value_has_the_type_of_the_value_it_is_compared_with(where: str, type: str):
    assert condition(where).startswith(f"json_get_{type}(metadata, 'year')")


def test_only_the_text_after_contains_matches_anywhere():
    assert condition("title contains  'a' OR title = 'b'") == "title ILIKE  '%a%' OR title = 'b'"


@pytest.mark.parametrize("part", ["'d0001', ", "year IS NOT NULL, "])
def test_a_long_condition_is_rewritten_in_linear_time(part: str):
    start = time.process_time()
    condition(f"id IN ({part * 16_000})")
    assert time.process_time() - start < 3
