"""Parse a condition that a user, a request or an assistant wrote.

    condition  = all of { "OR" all of }
    all of     = one { "AND" one }
    one        = "NOT" one | "(" condition ")" | name test
    test       = operator value | "IS" ["NOT"] "NULL"
               | ["NOT"] ( "IN" "(" value { "," value } ")" | "BETWEEN" value "AND" value
                         | "LIKE" text | "ILIKE" text | "contains" text )

There are no functions, casts, comments or queries: what is not in this grammar is refused with its position.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Literal

from longmatch.documents.document import brief
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
    Operator,
    Value,
)
from longmatch.library.errors import LibraryError

LONGEST = 4_000_000  # characters: a list of tens of thousands of ids
LONGEST_PATTERN = 1_000  # characters of LIKE and contains
DEEPEST = 10  # brackets and NOTs, one in another
MOST_TESTS = 1_000
KEYWORDS = frozenset(["AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "ILIKE", "BETWEEN", "TRUE", "FALSE", "CONTAINS"])
OPERATORS: dict[str, Operator] = {
    "=": "=",
    "==": "=",
    "<>": "<>",
    "!=": "<>",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
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
      | (?P<sign><=|>=|<>|!=|==|[=<>(),])
      | (?P<end>\Z)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A word of a condition."""

    kind: str  # a group of _TOKEN, or keyword
    value: str  # keywords in capitals, texts without their quotes
    start: int


def parse(where: str) -> Condition:
    """The tree of a condition; raises LibraryError, a sentence that says where it stops being one.

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
    return _Parser(where).parse()


class _Parser:
    """Reads one condition from left to right."""

    def __init__(self, where: str) -> None:
        self.where, self.tests = where, 0
        self.tokens = _tokens(where)
        self.token = next(self.tokens)

    def parse(self) -> Condition:
        condition = self._joined("OR", self._all_of, 0)
        if self.token.kind != "end":
            raise self._error("AND, OR or the end is missing here")
        return condition

    def _all_of(self, depth: int) -> Condition:
        return self._joined("AND", self._one, depth)

    def _joined(self, word: Literal["AND", "OR"], part: Callable[[int], Condition], depth: int) -> Condition:
        parts = [part(depth)]
        while self._skip(word):
            parts.append(part(depth))
        return Joined(word, tuple(parts)) if len(parts) > 1 else parts[0]

    def _one(self, depth: int) -> Condition:
        if depth > DEEPEST:
            raise self._error(f"more than {DEEPEST} brackets and NOTs stand one in another")
        if self._skip("NOT"):
            return Not(self._one(depth + 1))
        if self._skip("("):
            condition = self._joined("OR", self._all_of, depth + 1)
            self._need(")", "a closing bracket is missing here")
            return condition
        return self._test()

    def _test(self) -> Condition:
        self.tests += 1
        if self.tests > MOST_TESTS:
            raise self._error(f"there are more than {MOST_TESTS:,} comparisons; list values: id IN (...)")
        if self.token.kind != "name":
            raise self._error("a name is missing here, that of a column or of a key of the metadata")
        name = self._next().value
        if self.token.kind == "sign" and self.token.value in OPERATORS:
            return Comparison(name, OPERATORS[self._next().value], self._value())
        if self._skip("IS"):
            negated = self._skip("NOT")
            self._need("NULL", "NULL is missing here")
            return Not(IsNull(name)) if negated else IsNull(name)
        if self._skip("NOT"):
            return Not(self._test_of_words(name))
        return self._test_of_words(name)

    def _test_of_words(self, name: str) -> Condition:
        """IN, BETWEEN, LIKE and their kind, which NOT may precede."""
        if self._skip("IN"):
            self._need("(", "a list in brackets is missing here")
            values = [self._value()]
            while self._skip(","):
                values.append(self._value())
            self._need(")", "a comma or a closing bracket is missing here")
            return OneOf(name, tuple(values))
        if self._skip("BETWEEN"):
            low = self._value()
            self._need("AND", "AND is missing here")
            return Between(name, low, self._value())
        if self._skip("LIKE"):
            return Like(name, self._pattern())
        if self._skip("ILIKE"):
            return Like(name, self._pattern(), ignores_case=True)
        if self._skip("CONTAINS"):
            return Contains(name, self._pattern())
        raise self._error("a comparison is missing here")

    def _value(self) -> Value:
        if self.token.kind == "text":
            return self._next().value
        if self.token.kind == "number":
            number = float(self.token.value)
            if not isfinite(number):
                raise self._error("the number is too large")
            self._next()
            return number
        for word, value in (("TRUE", True), ("FALSE", False)):
            if self._skip(word):
                return value
        raise self._error("a text in single quotes, a number, TRUE or FALSE is missing here")

    def _pattern(self) -> str:
        if self.token.kind != "text":
            raise self._error("a text in single quotes is missing here")
        if len(self.token.value) > LONGEST_PATTERN:
            raise self._error(f"the text has more than {LONGEST_PATTERN:,} characters")
        return self._next().value

    def _skip(self, word: str) -> bool:
        """Go on if a keyword or sign is next."""
        if self.token.kind in ("keyword", "sign") and self.token.value == word:
            self._next()
            return True
        return False

    def _need(self, word: str, reason: str) -> None:
        if not self._skip(word):
            raise self._error(reason)

    def _next(self) -> Token:
        """The token, after reading the one that follows it."""
        token, self.token = self.token, next(self.tokens)
        return token

    def _error(self, reason: str) -> LibraryError:
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
