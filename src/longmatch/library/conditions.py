"""Conditions on documents, as a user or an assistant writes them: parsed, and written again as SQL from what was read.

    condition  = all of { "OR" all of }
    all of     = one { "AND" one }
    one        = "NOT" one | "(" condition ")" | name test
    test       = operator value | "IS" ["NOT"] "NULL"
               | ["NOT"] ( "IN" "(" value { "," value } ")" | "BETWEEN" value "AND" value
                         | "LIKE" text | "ILIKE" text | "contains" text )

There are no functions, casts, comments or queries: what is not in this grammar is refused with its position. A name is
a column, or a key of the metadata. Each is seen as a text or as a number, by the value it is compared with. Neither
view can fail, whatever a document holds under that key: what is no number has none, and a list is its JSON.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple, TypeAlias

from longmatch.documents.document import brief
from longmatch.library.errors import LibraryError

COLUMNS = ("id", "title", "language", "words", "source")
Value: TypeAlias = str | float | bool

LONGEST = 4_000_000  # characters: a list of tens of thousands of ids
LONGEST_PATTERN = 1_000  # characters of LIKE and contains
DEEPEST = 10  # brackets and NOTs, one in another
MOST_TESTS = 1_000
KEYWORDS = frozenset(["AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "ILIKE", "BETWEEN", "TRUE", "FALSE", "CONTAINS"])
OTHER_SPELLINGS = {"==": "=", "!=": "<>"}
GRAMMAR = (
    f"A condition compares {', '.join(COLUMNS)} or a key of the metadata with 'texts', numbers, TRUE or FALSE by "
    "=, <>, <, <=, >, >=, LIKE, contains, IN (...), BETWEEN or IS NULL, joined by AND, OR, NOT and brackets: "
    "language = 'en' AND year > 2019."
)
_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<text>'(?:[^'\ud800-\udfff]++|'')*+')
      | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<name>[^\W\d]\w*(?:\.\w+)*)
      | (?P<operator><=|>=|<>|!=|==|[=<>])
      | (?P<sign>[(),])
      | (?P<end>\Z)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_WILDCARD = re.compile(r"[%_\\]")
_LEAF = r"(?s)^[^\[{].*$"  # JSON that is neither a list nor an object


@dataclass(frozen=True)
class Condition:
    """What a document may fulfil: as SQL, in brackets where it has parts, and the metadata keys it names, each once."""

    sql: str
    keys: list[str]


def quoted(text: str) -> str:
    """A text as a literal of SQL.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def parse(where: str) -> Condition:
    """Read a condition; raises LibraryError, a sentence that says where it stops being one.

    >>> parse("language = 'en' AND words > 2019").sql
    "(language = 'en' AND TRY_CAST(words AS DOUBLE) > 2019.0)"
    >>> parse("year > 2019 AND author contains 'doe'").keys
    ['year', 'author']
    >>> parse("repeat(title, 9) = ''")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    longmatch.library.errors.LibraryError: The condition "repeat(title, 9) = ''" is not understood at character 7: ...
    """
    if len(where) > LONGEST:
        raise LibraryError(f"The condition is longer than {LONGEST:,} characters. Ask in parts.")
    parser = _Parser(where)
    sql = parser.any_of(0)
    if parser.token.kind != "end":
        raise parser.error("AND, OR or the end is missing here")
    return Condition(sql, [_key(name) for name in dict.fromkeys(parser.names) if name not in COLUMNS])


class Token(NamedTuple):
    """A word of a condition."""

    kind: str  # a group of _TOKEN, or keyword
    value: str  # keywords in capitals, texts without their quotes
    start: int


class _Parser:
    """Reads one condition from left to right, each part as SQL; `depth` counts the brackets and NOTs around a part."""

    def __init__(self, where: str) -> None:
        self.where, self.tests = where, 0
        self.names: list[str] = []
        self.tokens = _tokens(where)
        self.token = next(self.tokens)

    def any_of(self, depth: int) -> str:
        return self._joined("OR", lambda: self._joined("AND", lambda: self._one(depth)))

    def _joined(self, word: str, part: Callable[[], str]) -> str:
        parts = [part()]
        while self._skip(word):
            parts.append(part())
        return f"({f' {word} '.join(parts)})" if len(parts) > 1 else parts[0]

    def _one(self, depth: int) -> str:
        if depth > DEEPEST:
            raise self.error(f"more than {DEEPEST} brackets and NOTs stand one in another")
        if self._skip("NOT"):
            return f"(NOT {self._one(depth + 1)})"
        if self._skip("("):
            sql = self.any_of(depth + 1)
            self._need(")", "a closing bracket is missing here")
            return sql
        self.tests += 1
        if self.tests > MOST_TESTS:
            raise self.error(f"there are more than {MOST_TESTS:,} comparisons; list values: id IN (...)")
        if self.token.kind != "name":
            raise self.error("a name is missing here, that of a column or of a key of the metadata")
        name = self._next().value
        self.names.append(name)
        if self.token.kind == "operator":
            operator = self._next().value
            return _compare(name, OTHER_SPELLINGS.get(operator, operator), self._value())
        if self._skip("IS"):
            negated = self._skip("NOT")
            self._need("NULL", "NULL is missing here")
            sql = f"{_text(name)} IS NULL"  # of the text, which all but a missing value has
        else:
            negated = self._skip("NOT")
            sql = self._test_of_words(name)
        return f"(NOT {sql})" if negated else sql

    def _test_of_words(self, name: str) -> str:
        """IN, BETWEEN, LIKE and their kind, which NOT may precede."""
        if self._skip("IN"):
            self._need("(", "a list in brackets is missing here")
            values = [self._value()]
            while self._skip(","):
                values.append(self._value())
            self._need(")", "a comma or a closing bracket is missing here")
            kinds = ([v for v in values if _is_number(v)], [v for v in values if not _is_number(v)])
            lists = (f"{_as_type_of(some[0], name)} IN ({', '.join(map(_literal, some))})" for some in kinds if some)
            return f"({' OR '.join(lists)})"
        if self._skip("BETWEEN"):
            low = self._value()
            self._need("AND", "AND is missing here")
            return f"({_compare(name, '>=', low)} AND {_compare(name, '<=', self._value())})"
        for word in ("LIKE", "ILIKE"):
            if self._skip(word):
                return f"{_text(name)} {word} {quoted(self._pattern())}"
        if self._skip("CONTAINS"):  # a pattern in which nothing of the text is a wildcard
            part = _WILDCARD.sub(r"\\\g<0>", self._pattern())
            return f"{_text(name)} ILIKE {quoted(f'%{part}%')}"
        raise self.error("a comparison is missing here")

    def _value(self) -> Value:
        if self.token.kind == "text":
            return self._next().value
        if self.token.kind == "number":
            number = float(self.token.value)
            if not isfinite(number):
                raise self.error("the number is too large")
            self._next()
            return number
        for word, value in (("TRUE", True), ("FALSE", False)):
            if self._skip(word):
                return value
        raise self.error("a text in single quotes, a number, TRUE or FALSE is missing here")

    def _pattern(self) -> str:
        if self.token.kind != "text":
            raise self.error("a text in single quotes is missing here")
        if len(self.token.value) > LONGEST_PATTERN:
            raise self.error(f"the text has more than {LONGEST_PATTERN:,} characters")
        return self._next().value

    def _skip(self, word: str) -> bool:
        """Go on if a keyword or sign is next."""
        if self.token.kind in ("keyword", "sign") and self.token.value == word:
            self._next()
            return True
        return False

    def _need(self, word: str, reason: str) -> None:
        if not self._skip(word):
            raise self.error(reason)

    def _next(self) -> Token:
        """The token, after reading the one that follows it."""
        token, self.token = self.token, next(self.tokens)
        return token

    def error(self, reason: str) -> LibraryError:
        if self.token.kind == "other" and self.token.value == "'":
            reason = "the text has no closing quote, or a character that is none"
        shown = brief(self.where.encode(errors="replace").decode(), 100)
        return LibraryError(
            f"The condition {shown!r} is not understood at character {self.token.start + 1}: {reason}. {GRAMMAR}"
        )


def _tokens(where: str) -> Iterator[Token]:
    """The words of a condition, "end" the last; what is none is "other"."""
    for match in _TOKEN.finditer(where):
        kind, value = str(match.lastgroup), match[0]
        if kind == "name" and value.upper() in KEYWORDS:
            kind, value = "keyword", value.upper()
        if kind != "space":
            yield Token(kind, value[1:-1].replace("''", "'") if kind == "text" else value, match.start())


def _compare(name: str, operator: str, value: Value) -> str:
    return f"{_as_type_of(value, name)} {operator} {_literal(value)}"


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
