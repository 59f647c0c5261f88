"""Work on many documents spread over processes, in order and in bounded memory."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from itertools import islice
from multiprocessing import get_context
from multiprocessing.util import Finalize
from typing import TypeVar

X = TypeVar("X")
Y = TypeVar("Y")

CHUNK = 8  # items sent to a process at a time
AHEAD = 4  # chunks a process may be ahead of what is asked for

_chosen = 1


def use_processes(count: int) -> None:
    """Spread over so many processes from now on."""
    global _chosen  # noqa: PLW0603 - one setting for the whole program, like torch's number of threads
    _chosen = count


def processes_chosen() -> int:
    """Over how many processes work is spread; one, unless a command said more."""
    return _chosen


def half_the_cores() -> int:
    """A number of processes that leaves the machine usable."""
    return max(1, (os.cpu_count() or 1) // 2)


def spread(work: Callable[[X], Y], items: Iterable[X]) -> Iterator[Y]:
    """`work` done on each item, in order; `work` is a function of a module and may not raise.

    >>> list(spread(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if _chosen == 1:
        yield from map(work, items)
        return
    left = iter(items)
    waiting: deque[Future[list[Y]]] = deque()
    while True:
        while len(waiting) < AHEAD * _chosen and (chunk := list(islice(left, CHUNK))):
            waiting.append(_pool(_chosen).submit(_each, work, chunk))
        if not waiting:
            return
        yield from waiting.popleft().result()


def _each(work: Callable[[X], Y], chunk: list[X]) -> list[Y]:
    return [work(item) for item in chunk]


@cache
def _pool(count: int) -> ProcessPoolExecutor:
    """Fresh processes: a copy of one that holds a GPU would not work."""
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    Finalize(None, pool.shutdown, exitpriority=100)  # before its queues: a process started by another would never end
    return pool
