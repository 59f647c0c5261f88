"""How far a builder has come, for whoever watches: builders report, the command line shows it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_watcher: ContextVar[Callable[[str, int], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(callback: Callable[[str, int], None]) -> Iterator[None]:
    """Hand what is reported inside the block to `callback(what, count)`.

    >>> with watching(lambda what, count: print(count, what)):
    ...     report("pages read", 3)
    3 pages read
    """
    token = _watcher.set(callback)
    try:
        yield
    finally:
        _watcher.reset(token)


def report(what: str, count: int) -> None:
    """Say how many of something are done; costs nothing where nobody watches."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(what, count)
