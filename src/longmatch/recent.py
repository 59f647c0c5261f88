"""A bounded cache of what was used last."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """The values of the keys that were used last, at most `most` of them.

    >>> squares = Recent[int, int](2)
    >>> [squares.get(n, lambda: n * n) for n in (3, 4, 3, 5)], 3 in squares, 4 in squares
    ([9, 16, 9, 25], True, False)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[K, V] = OrderedDict()

    def __contains__(self, key: K) -> bool:
        return key in self._held

    def __len__(self) -> int:
        return len(self._held)

    def values(self) -> list[V]:
        """All values, the one used last at the end."""
        return list(self._held.values())

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key, made if it is not there."""
        value = self._held[key] if key in self._held else make()
        self.put(key, value)
        return value

    def put(self, key: K, value: V) -> None:
        """Keep a value, and drop what has not been used for longest."""
        self._held[key] = value
        self._held.move_to_end(key)
        while len(self._held) > self.most:
            self._held.popitem(last=False)
