"""One thread does all the scoring: a model serves one question at a time, and the server answers others meanwhile.

Questions are taken in the order they come. A job, which may take minutes, lets the waiting questions pass whenever it
reports progress: they are answered by the same thread, in between.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any, ParamSpec, TypeVar

from longmatch.web.problems import Problem

P = ParamSpec("P")
T = TypeVar("T")
Task = Callable[[], None]


class Worker:
    """The scoring thread; it starts with the first question."""

    def __init__(self, waiting: int) -> None:
        self.most = waiting
        self._questions: deque[Task] = deque()
        self._jobs: deque[Task] = deque()
        self._there = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def ask(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Answer a question in the scoring thread; refused when too many wait."""
        if len(self._questions) >= self.most:
            raise Problem(503, "Too many questions wait for an answer. Ask again in a moment.", {"Retry-After": "2"})
        return await asyncio.wrap_future(self._put(self._questions, function, *arguments, **named))

    def begin(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> "Future[T]":
        """Do a job when the jobs before it are done."""
        return self._put(self._jobs, function, *arguments, **named)

    def breathe(self) -> None:
        """Called by a job between its steps: answers the questions that wait."""
        while self._questions and threading.current_thread() is self._thread:
            self._questions.popleft()()

    def close(self, patience: float = 5.0) -> None:
        """Take nothing more, and wait a little for what is being worked on."""
        with self._there:
            self._closed = True
            self._there.notify_all()
        if self._thread is not None:
            self._thread.join(patience)

    def _put(self, queue: deque[Task], function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> "Future[T]":
        future: Future[T] = Future()
        context = copy_context()

        def task() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = context.run(function, *arguments, **named)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        with self._there:
            queue.append(task)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="scoring", daemon=True)
                self._thread.start()
            self._there.notify_all()
        return future

    def _work(self) -> None:
        while True:
            with self._there:
                self._there.wait_for(lambda: self._questions or self._jobs or self._closed)
                if self._closed:
                    return
                task: Any = (self._questions or self._jobs).popleft()
            task()
