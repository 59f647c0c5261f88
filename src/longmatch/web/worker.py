"""One thread does all the scoring: a model serves one question at a time, and the server answers others meanwhile.

Questions are taken in the order they come. A job, which may take minutes, begins after the question being answered, and
lets the waiting questions pass whenever it reports progress: they are answered by the same thread, in between.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

from longmatch.web.problems import STOPPING, Problem, too_many

P = ParamSpec("P")
T = TypeVar("T")
Task = tuple["Future[Any]", Callable[[], Any]]


class Worker:
    """The scoring thread. It starts with the first question; closed, it can be opened again."""

    def __init__(self, waiting: int) -> None:
        self.most = waiting
        self._questions: deque[Task] = deque()
        self._jobs: deque[Task] = deque()
        self._there = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._current: Future[Any] | None = None  # the question or job worked on last

    @property
    def busy(self) -> bool:
        """Whether a question that comes now must wait for another."""
        return bool(self._questions) or (self._current is not None and not self._current.done())

    async def ask(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Answer a question in the scoring thread; refused when too many wait."""
        if len(self._questions) >= self.most:
            raise too_many()
        return await asyncio.wrap_future(self._put(self._questions, lambda: function(*arguments, **named)))

    def begin(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> "Future[T]":
        """Do a job when the jobs before it are done."""
        return self._put(self._jobs, lambda: function(*arguments, **named))

    def breathe(self) -> None:
        """Called by a job between its steps: answers the questions that wait; those that come meanwhile are next."""
        if threading.current_thread() is not self._thread:
            return
        for _ in range(len(self._questions)):
            with self._there:
                if not self._questions:  # closed
                    return
                task = self._questions.popleft()
            _do(task)

    def open(self) -> None:
        """Take questions, again if it was closed."""
        with self._there:
            self._closed = False

    def close(self, patience: float = 5.0) -> None:
        """Take nothing more, refuse what waits, and wait a little for what is being worked on."""
        with self._there:
            self._closed = True
            left = [*self._questions, *self._jobs]
            self._questions.clear()
            self._jobs.clear()
            thread, self._thread = self._thread, None
            self._there.notify_all()
        for future, _ in left:
            if future.set_running_or_notify_cancel():
                future.set_exception(_stopping())
        if thread is not None:
            thread.join(patience)

    def _put(self, queue: deque[Task], function: Callable[[], T]) -> "Future[T]":
        future: Future[T] = Future()
        with self._there:
            if self._closed:
                raise _stopping()
            queue.append((future, function))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="scoring", daemon=True)
                self._thread.start()
            self._there.notify_all()
        return future

    def _work(self) -> None:
        me = threading.current_thread()
        first, second = self._questions, self._jobs
        while True:
            with self._there:
                self._there.wait_for(lambda: self._questions or self._jobs or self._thread is not me)
                if self._thread is not me:
                    return
                task = (first or second).popleft()
                first, second = second, first  # in turns, or those who keep asking would keep a job from beginning
                self._current = task[0]
            _do(task)


def _do(task: Task) -> None:
    future, function = task
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:  # handed on to whoever asked
        future.set_exception(error)
    else:
        future.set_result(result)


def _stopping() -> Problem:
    return Problem(503, STOPPING)
