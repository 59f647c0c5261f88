"""A condition as a tree, and the SQL that the store runs for it.

A name is a column, or a key of the metadata. Each is seen as a text or as a number, by the value it is compared with.
Neither view can fail, whatever a document holds under that key: what is no number has none, and a list is its JSON.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

COLUMNS = ("id", "title", "language", "words", "source")
Value: TypeAlias = str | float | bool
Operator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]

_WILDCARD = re.compile(r"[%_\\]")
_LEAF = r"(?s)^[^\[{].*$"  # JSON that is neither a list nor an object


class Condition:
    """What a document may fulfil."""

    @property
    def sql(self) -> str:
        """The condition as SQL; in brackets where it has parts."""
        raise NotImplementedError

    @property
    def names(self) -> Iterator[str]:
        """The columns and keys that it names, as often as it does."""
        raise NotImplementedError

    @property
    def keys(self) -> list[str]:
        """The keys of the metadata that it names, each once."""
        return [_key(name) for name in dict.fromkeys(self.names) if name not in COLUMNS]


@dataclass(frozen=True)
class OnName(Condition):
    """Any condition on one column or key."""

    name: str

    @property
    def names(self) -> Iterator[str]:
        """The one name."""
        yield self.name


@dataclass(frozen=True)
class Comparison(OnName):
    """`year > 2019`."""

    operator: Operator
    value: Value

    @property
    def sql(self) -> str:
        """With the name as what the value is."""
        return f"{_as_type_of(self.value, self.name)} {self.operator} {_literal(self.value)}"


@dataclass(frozen=True)
class OneOf(OnName):
    """`language IN ('en', 'de')`."""

    values: tuple[Value, ...]

    @property
    def sql(self) -> str:
        """One list of each type of value."""
        numbers = [value for value in self.values if _is_number(value)]
        texts = [value for value in self.values if not _is_number(value)]
        lists = (f"{_as_type_of(v[0], self.name)} IN ({', '.join(map(_literal, v))})" for v in (numbers, texts) if v)
        return f"({' OR '.join(lists)})"


@dataclass(frozen=True)
class Between(OnName):
    """`year BETWEEN 2019 AND 2021`."""

    low: Value
    high: Value

    @property
    def sql(self) -> str:
        """As two comparisons, whose values may have two types."""
        return f"({Comparison(self.name, '>=', self.low).sql} AND {Comparison(self.name, '<=', self.high).sql})"


@dataclass(frozen=True)
class Like(OnName):
    """`title LIKE 'Rivers%'`; ILIKE ignores capitals."""

    pattern: str
    ignores_case: bool = False

    @property
    def sql(self) -> str:
        """With the name as a text."""
        return f"{_text(self.name)} {'ILIKE' if self.ignores_case else 'LIKE'} {quoted(self.pattern)}"


@dataclass(frozen=True)
class Contains(OnName):
    """`author contains 'doe'`: anywhere, in capitals or not."""

    part: str

    @property
    def sql(self) -> str:
        """A pattern in which nothing of the text is a wildcard."""
        return Like(self.name, "%" + _WILDCARD.sub(r"\\\g<0>", self.part) + "%", ignores_case=True).sql


@dataclass(frozen=True)
class IsNull(OnName):
    """`year IS NULL`."""

    @property
    def sql(self) -> str:
        """Of the text, which all but a missing value has."""
        return f"{_text(self.name)} IS NULL"


@dataclass(frozen=True)
class Not(Condition):
    """`NOT year > 2019`."""

    condition: Condition

    @property
    def sql(self) -> str:
        """In brackets."""
        return f"(NOT {self.condition.sql})"

    @property
    def names(self) -> Iterator[str]:
        """Those of what is negated."""
        return self.condition.names


@dataclass(frozen=True)
class Joined(Condition):
    """Two conditions or more, joined by AND or by OR."""

    word: Literal["AND", "OR"]
    conditions: tuple[Condition, ...]

    @property
    def sql(self) -> str:
        """In brackets."""
        return f"({f' {self.word} '.join(condition.sql for condition in self.conditions)})"

    @property
    def names(self) -> Iterator[str]:
        """Those of all parts, in their order."""
        for condition in self.conditions:
            yield from condition.names


def quoted(text: str) -> str:
    """A text as a literal of SQL.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def _literal(value: Value) -> str:
    if isinstance(value, str):
        return quoted(value)
    return quoted(str(value).lower()) if isinstance(value, bool) else repr(float(value))


def _is_number(value: Value) -> bool:
    return not isinstance(value, str | bool)


def _as_type_of(value: Value, name: str) -> str:
    if not _is_number(value):
        return _text(name)
    return f"TRY_CAST({name if name == 'words' else _text(name)} AS DOUBLE)"


def _text(name: str) -> str:
    """A column or a value of the metadata as a text: TRUE is 'true', and a list or an object its JSON.

    `json_get_string` fails on lists and objects. COALESCE does not call it where its first argument has a value.
    """
    if name == "words":
        return "CAST(words AS STRING)"
    if name in COLUMNS:
        return name
    path = quoted(f'$."{_key(name)}"')  # a name has letters, digits, underscores and dots alone
    unless_leaf = f"NULLIF(regexp_replace(json_extract(metadata, {path}), {quoted(_LEAF)}, ''), '')"
    return f"COALESCE({unless_leaf}, json_get_string(metadata, {quoted(_key(name))}))"


def _key(name: str) -> str:
    return name.removeprefix("metadata.")
