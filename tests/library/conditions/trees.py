"""Conditions drawn at random, and how a user would write them."""

from hypothesis import strategies as st

from longmatch.library.conditions.parse import KEYWORDS
from longmatch.library.conditions.tree import (
    COLUMNS,
    Between,
    Comparison,
    Condition,
    Contains,
    IsNull,
    Joined,
    Like,
    Not,
    OneOf,
    Value,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = TEXTS | st.floats(allow_nan=False, allow_infinity=False) | st.booleans()
KEYS = st.from_regex(r"[^\W\d]\w{0,5}(\.\w{1,3})?", fullmatch=True).filter(lambda name: name.upper() not in KEYWORDS)
NAMES = st.sampled_from([*COLUMNS, "year", "author", "tags", "metadata.title"]) | KEYS
TESTS = st.one_of(
    st.builds(Comparison, NAMES, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), VALUES),
    st.builds(OneOf, NAMES, st.lists(VALUES, min_size=1, max_size=4).map(tuple)),
    st.builds(Between, NAMES, VALUES, VALUES),
    st.builds(Like, NAMES, TEXTS, st.booleans()),
    st.builds(Contains, NAMES, TEXTS),
    st.builds(IsNull, NAMES),
)


def _parts(conditions: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    joined = st.builds(Joined, st.sampled_from(["AND", "OR"]), st.lists(conditions, min_size=2, max_size=3).map(tuple))
    return joined | st.builds(Not, conditions)


CONDITIONS = st.recursive(TESTS, _parts, max_leaves=6)


def written(condition: Condition) -> str:
    """A condition in the language that `parse` reads."""
    match condition:
        case Comparison(name, operator, value):
            return f"{name} {operator} {_value(value)}"
        case OneOf(name, values):
            return f"{name} IN ({', '.join(map(_value, values))})"
        case Between(name, low, high):
            return f"{name} BETWEEN {_value(low)} AND {_value(high)}"
        case Like(name, pattern, ignores_case):
            return f"{name} {'ILIKE' if ignores_case else 'LIKE'} {_value(pattern)}"
        case Contains(name, part):
            return f"{name} contains {_value(part)}"
        case IsNull(name):
            return f"{name} IS NULL"
        case Not(negated):
            return f"NOT ({written(negated)})"
        case Joined(word, conditions):
            return f" {word} ".join(f"({written(part)})" for part in conditions)
    raise AssertionError(condition)


def _value(value: Value) -> str:
    return str(value).upper() if not isinstance(value, str) else "'" + value.replace("'", "''") + "'"
