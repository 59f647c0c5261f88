"""Processes that answer questions about documents of the library, so that several are answered at a time.

Each has the library open for itself, and its memory with it. They start when a question first finds the scoring thread
at work: who searches alone never needs them. Until they are ready, the thread goes on answering.
"""

import asyncio
import gc
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

from longmatch.errors import LongmatchError
from longmatch.parallel import interrupts_withheld, new_pool
from longmatch.web.limits import Limits
from longmatch.web.problems import UNKNOWN, Problem, log, too_many
from longmatch.web.schema import RankRequest

Ranker = Callable[[RankRequest], bytes]

_ranker: list[Ranker] = []  # of this process, if it is one of them


class Rankers:
    """Such processes for one library."""

    def __init__(self, open_ranker: Callable[[], Ranker] | None, limits: Limits) -> None:
        """`open_ranker` opens the library in a process and gives what answers there; None where that cannot be."""
        self.open_ranker = open_ranker if limits.rankers > 1 else None
        self._limits = limits
        self._pool: Any = None
        self.waiting = 0  # questions
        self.ready = False  # whether there are any that take questions

    @property
    def started(self) -> bool:
        """Whether there are any, ready or not."""
        return self._pool is not None

    def start(self) -> None:
        """Start them, if there are to be any and there are none; they are ready some seconds later."""
        if self.open_ranker and not self.started:
            self._pool = new_pool(self._limits.rankers, partial(_begin, self.open_ranker), idle=None)
            self._submit(bool).add_done_callback(partial(self._opened, self._pool))

    async def rank(self, asked: RankRequest) -> bytes:
        """The answer as JSON. Where its process dies, the question is asked once more."""
        if self.waiting >= self._limits.waiting:
            raise too_many()
        self.waiting += 1
        try:
            for _ in range(2):
                if not (pool := self._pool):
                    break
                try:
                    return bytes(await asyncio.wrap_future(self._submit(_answer, asked)))
                except BrokenProcessPool:
                    if pool is self._pool:
                        self.close()
                        self.start()
        finally:
            self.waiting -= 1
        raise Problem(503, "The process that ranked was stopped. Ask again.", {"Retry-After": "1"})

    def close(self) -> None:
        """End them."""
        pool, self._pool, self.ready = self._pool, None, False
        if pool is not None:
            pool.shutdown(wait=False, kill_workers=True)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        with interrupts_withheld():
            future: Future[Any] = self._pool.submit(function, *arguments)
            return future

    def _opened(self, pool: Any, first: "Future[Any]") -> None:
        """Where one could not open the library, none is asked any more."""
        if pool is not self._pool or first.cancelled():
            return
        self.ready = first.exception() is None
        if not self.ready:
            self.open_ranker = self._pool = None
            log.warning("Questions are answered one at a time: no other process can open the library.")


def _begin(open_ranker: Callable[[], Ranker]) -> None:
    _ranker.append(open_ranker())
    gc.freeze()  # loky looks for garbage between answers: what is kept in memory for good is none


def _answer(asked: RankRequest) -> bytes:
    """In one of the processes: the ranking, or what is wrong with the question."""
    try:
        return _ranker[0](asked)
    except LongmatchError as error:
        raise error if isinstance(error, Problem) else Problem(422, str(error)) from None
    except Exception:
        traceback.print_exc()  # to the terminal of the server
        raise Problem(500, UNKNOWN) from None
