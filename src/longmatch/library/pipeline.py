"""An assembly line: each stage of the work in a thread of its own; order and errors are those of one after another."""

from collections.abc import Callable, Sequence
from queue import Queue
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

Stage = Callable[[Any], Any]


class Stopped(Exception):
    """Raised within a stage that is asked to leave off."""


class _Failed:
    """Takes the place of an item on which a stage failed; what came before it is still done."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


_END = object()


class Line:
    """Items go through the stages in order; one may wait before each stage, so memory is bounded.

    An error is raised by `hand`, or at the end of the block, after the items before it are done and without those
    after it. If the block itself is left by an error, Ctrl-C for example, what is on the line is dropped: a stage that
    takes long calls `check` now and then.

    >>> done = []
    >>> with Line([lambda x: x + 1, done.append]) as line:
    ...     for number in (1, 2, 3):
    ...         line.hand(number)
    >>> done
    [2, 3, 4]
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._queues: list[Queue[Any]] = [Queue(1) for _ in stages]
        self._error: BaseException | None = None
        self._stop = Event()
        followers = [*(queue.put for queue in self._queues[1:]), self._leave]
        parts = zip(stages, self._queues, followers, strict=True)
        self._threads = [Thread(target=self._work, args=part, daemon=True) for part in parts]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stop.set()
        self._queues[0].put(_END)
        for thread in self._threads:
            thread.join()
        if error is None:
            self._raise()

    def hand(self, item: Any) -> None:
        """Put an item on the line, when there is room."""
        self._raise()
        self._queues[0].put(item)

    def check(self) -> None:
        """For a stage: raise Stopped if the work is wanted no more."""
        if self._stop.is_set():
            raise Stopped

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self, stage: Stage, queue: "Queue[Any]", follow: Callable[[Any], None]) -> None:
        failed = False
        while (item := queue.get()) is not _END:
            if failed or self._stop.is_set():
                continue  # take what comes, so that nobody waits
            if not isinstance(item, _Failed):
                try:
                    item = stage(item)
                except BaseException as error:
                    item = _Failed(error)
            failed = isinstance(item, _Failed)
            follow(item)
        follow(_END)

    def _leave(self, item: Any) -> None:
        """What comes off the line."""
        if isinstance(item, _Failed) and self._error is None:
            self._error = item.error
