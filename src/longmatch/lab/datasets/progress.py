"""Progress of builders: they report counts, the command line displays them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_callback: ContextVar[Callable[[str, int], None] | None] = ContextVar("callback", default=None)


@contextmanager
def on_progress(callback: Callable[[str, int], None]) -> Iterator[None]:
    """Call `callback(what, count)` for every report inside the block.

    >>> with on_progress(lambda what, count: print(count, what)):
    ...     report("pages read", 3)
    3 pages read
    """
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def report(what: str, count: int) -> None:
    """Report that `count` of `what` are done."""
    callback = _callback.get()
    if callback is not None:
        callback(what, count)
