"""Work spread over processes: ordered results, bounded look-ahead, and workers that never outlive their parent."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from multiprocessing import resource_tracker
from multiprocessing.util import Finalize
from typing import Any, TypeVar

from longmatch.errors import LongmatchError

X = TypeVar("X")
Y = TypeVar("Y")
Setup = Callable[[], None]

CHUNK = 8  # items sent to a process at a time
AHEAD = 4  # chunks per process that may be under way before their results are needed
IDLE = 300  # seconds after which an idle worker process ends

ENVIRONMENT = {  # one core per worker process
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}

_default_processes = 1


def use_processes(count: int) -> None:
    """Set the number of processes that `parallel_map` uses by default."""
    global _default_processes  # noqa: PLW0603 - one setting for the whole program, like torch's number of threads
    _default_processes = count


def default_processes() -> int:
    """The number set by `use_processes`; 1 at first."""
    return _default_processes


def half_the_cores() -> int:
    """A number of processes that leaves the machine usable."""
    return max(1, (os.cpu_count() or 1) // 2)


def parallel_map(
    work: Callable[[X], Y],
    items: Iterable[X],
    processes: int | None = None,
    *,
    chunk: int = CHUNK,
    ahead: int = AHEAD,
    setup: Setup | None = None,
    on_crash: Callable[[X], Y] | None = None,
    apart: bool = False,
) -> Iterator[Y]:
    """Apply `work` to each item, in order, in `processes` processes (by default the number set by `use_processes`).

    Less than two chunks of work, or one process, is done in the calling process. Worker processes are fresh ones that
    do not run the caller's script again, so a script needs no `if __name__ == "__main__"`. They end with the iteration;
    those of the default number without `setup` are kept for the next call.

    setup: called once in each process before its first item.
    on_crash: gives the result of an item whose process died twice, the second time with nothing else to do. Without it
        a dead process is an error.
    apart: work that may end its process is never done in the calling one, however little it is.

    >>> list(parallel_map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    count = processes or _default_processes
    remaining = iter(items)
    first = list(islice(remaining, 2 * chunk)) if count > 1 or apart else []
    if not first if apart else len(first) < 2 * chunk:
        if setup:
            setup()
        yield from map(work, chain(first, remaining))
        return
    is_kept = processes is None and setup is None

    def start() -> Any:
        return _kept_pool(count, os.getpid()) if is_kept else new_pool(count, setup)

    pool = start()
    to_do, pending = chain(first, remaining), deque[tuple[list[X], Future[list[Y]]]]()
    try:
        while True:
            while len(pending) < ahead * count and (batch := list(islice(to_do, chunk))):
                pending.append((batch, _submit(pool, work, batch)))
            if not pending:
                return
            batch, future = pending.popleft()
            try:
                results = future.result()
            except BrokenProcessPool as error:
                pool.shutdown(wait=False, kill_workers=True)
                if is_kept:
                    _kept_pool.cache_clear()
                pool = start()
                if on_crash is None:
                    raise LongmatchError(
                        "A worker process was stopped, perhaps for lack of memory. Use fewer processes."
                    ) from error
                results = [_apart(work, item, setup, on_crash) for item in batch]
                for place, (lost, waiting) in enumerate(pending):  # what was lost with a process is submitted again
                    if isinstance(waiting.exception(), BrokenProcessPool):
                        pending[place] = lost, _submit(pool, work, lost)
            yield from results
    finally:
        if not is_kept:
            pool.shutdown(wait=False, kill_workers=True)


def _submit(pool: Any, work: Callable[[X], Y], batch: list[X]) -> "Future[list[Y]]":
    future: Future[list[Y]]
    try:
        with interrupts_withheld():
            future = pool.submit(_work_on_each, work, batch)
    except BrokenProcessPool as error:  # a process has died; whose fault it was shows in the order of the items
        future = Future()
        future.set_exception(error)
    return future


def _apart(work: Callable[[X], Y], item: X, setup: Setup | None, on_crash: Callable[[X], Y]) -> Y:
    """The result of an item, made with nothing else to do in its process."""
    pool = new_pool(1, setup)
    try:
        results: list[Y] = pool.submit(_work_on_each, work, [item]).result()
        return results[0]
    except BrokenProcessPool:
        return on_crash(item)
    finally:
        pool.shutdown(wait=False, kill_workers=True)


@contextmanager
def interrupts_withheld() -> Iterator[None]:
    """Processes started here never see Ctrl-C, which the terminal sends to all: their parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work_on_each(work: Callable[[X], Y], batch: list[X]) -> list[Y]:
    return [work(item) for item in batch]


def new_pool(count: int, setup: Setup | None, idle: float | None = IDLE) -> Any:
    """Fresh processes, as a copy of one that holds a GPU would not work; idle for so many seconds, one ends.

    Those of the standard library would run the caller's script again.
    """
    from loky import ProcessPoolExecutor
    from loky.backend import resource_tracker as loky_tracker

    resource_tracker.ensure_running()  # it lets interrupts through as it starts, which interrupts_withheld must not
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"  # it need not complain that an interrupt left something to clean up
    try:
        loky_tracker.ensure_running()
    finally:
        del os.environ["PYTHONWARNINGS"]
        os.environ |= {"PYTHONWARNINGS": before} if before is not None else {}
    return ProcessPoolExecutor(
        count, timeout=idle, initializer=_start_worker, initargs=(os.getpid(), setup), env=ENVIRONMENT
    )


@cache
def _kept_pool(count: int, _process: int) -> Any:
    """The pool of this process; a forked copy of it has no workers."""
    pool = new_pool(count, None)
    Finalize(None, pool.shutdown, exitpriority=100)  # before its queues: a process started by another would never end
    return pool


def _start_worker(parent: int, setup: Setup | None) -> None:
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if setup:
        setup()


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, even if that was killed."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
