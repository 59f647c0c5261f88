"""A condition that comes from outside: comparisons only, so that it can cost no more than a look at every document."""

from longmatch.library.filters import function_in
from longmatch.web.problems import Problem


def checked(where: str | None) -> str | None:
    """The condition, or None where there is none; functions are refused.

    >>> checked("language IN ('en', 'de') AND NOT (words < 100)")
    "language IN ('en', 'de') AND NOT (words < 100)"
    >>> checked("  ") is None
    True
    """
    if where is None or not where.strip():
        return None
    if called := function_in(where):
        raise Problem(422, f"Conditions cannot call functions; this one calls {called}().")
    return where
