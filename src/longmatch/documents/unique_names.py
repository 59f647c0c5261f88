"""Names that are given once."""

from collections.abc import Callable
from itertools import count


class UniqueNames:
    """Gives the first of `name`, `name (2)`, `name (3)` ... that is free. A name that is taken must stay so.

    `is_taken` says which names others have; `numbered` writes a name with a number.

    >>> unique = UniqueNames(is_taken={"b"}.__contains__)
    >>> [unique(name) for name in ("a", "a", "b", "a")]
    ['a', 'a (2)', 'b (2)', 'a (3)']
    """

    def __init__(
        self, is_taken: Callable[[str], bool] | None = None, numbered: Callable[[str, int], str] = "{} ({})".format
    ) -> None:
        self._is_taken, self._numbered = is_taken, numbered
        self._last: dict[str, int] = {}  # the last number of every name that was asked for or given

    def __call__(self, name: str) -> str:
        """The name, with a number if it is taken."""
        for number in count(self._last.get(name, 0) + 1):
            unique = name if number == 1 else self._numbered(name, number)
            if unique not in self._last and not (self._is_taken and self._is_taken(unique)):
                break
        self._last[name] = number
        self._last.setdefault(unique, 1)
        return unique
