"""A condition that comes from outside: comparisons only, so that it can cost no more than a look at every document."""

import re

from longmatch.web.problems import Problem

_TEXT = re.compile(r"'(?:[^']|'')*'")
_CALL = re.compile(r"([^\W\d][\w.]*)\s*\(")
_BEFORE_A_BRACKET = frozenset({"and", "or", "not", "in"})


def checked(where: str | None) -> str | None:
    """The condition, or None where there is none; functions are refused.

    >>> checked("language IN ('en', 'de') AND NOT (words < 100)")
    "language IN ('en', 'de') AND NOT (words < 100)"
    >>> checked("  ") is None
    True
    """
    if where is None or not where.strip():
        return None
    for called in _CALL.findall(_TEXT.sub("''", where)):
        if called.lower() not in _BEFORE_A_BRACKET:
            raise Problem(422, f"A condition compares and calls nothing, but here it calls {called}.")
    return where
