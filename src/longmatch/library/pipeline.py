"""A pipeline: each stage of the work in its own thread, with the order and the errors of sequential code."""

from collections.abc import Callable, Sequence
from queue import Queue
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

Stage = Callable[[Any], Any]


class PipelineStopped(Exception):
    """Raised inside a stage whose work is no longer needed."""


class _Failure:
    """Replaces an item on which a stage failed; the items before it are still completed."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


_END = object()


class Pipeline:
    """Items pass through the stages in order; one may wait before each stage, which bounds memory.

    An error in a stage is raised by the next `put`, or at the end of the block: items before the failed one are
    completed, items after it are dropped. If the block itself raises, on Ctrl-C for example, the last stage, which
    keeps the results, completes what has come to it, and all else is dropped; long stages should call `check` now and
    then. No thread outlives the block, however often it is interrupted.

    >>> done = []
    >>> with Pipeline([lambda x: x + 1, done.append]) as pipeline:
    ...     for number in (1, 2, 3):
    ...         pipeline.put(number)
    >>> done
    [2, 3, 4]
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._queues: list[Queue[Any]] = [Queue(1) for _ in stages]
        self._error: BaseException | None = None
        self._stop = Event()
        outputs = [*(queue.put for queue in self._queues[1:]), self._collect]
        workers = zip(stages, self._queues, outputs, strict=True)
        self._threads = [Thread(target=self._work, args=worker, daemon=True) for worker in workers]
        self._interrupt: KeyboardInterrupt | None = None

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._stop.set()
        self._wait(lambda: self._queues[0].put(_END))
        for thread in self._threads:
            self._wait(thread.join)
        if self._interrupt is not None:
            raise self._interrupt
        if error is None:
            self._raise_error()

    def _wait(self, wait: Callable[[], None]) -> None:
        """Wait to the end; an interrupt meanwhile stops the work and is raised when the threads have ended."""
        while True:
            try:
                return wait()
            except KeyboardInterrupt as interrupt:
                self._stop.set()
                self._interrupt = interrupt

    def put(self, item: Any) -> None:
        """Pass an item to the first stage; waits until there is room."""
        self._raise_error()
        self._queues[0].put(item)

    def check(self) -> None:
        """For stages: raise PipelineStopped if the work is no longer needed."""
        if self._stop.is_set():
            raise PipelineStopped

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self, stage: Stage, queue: "Queue[Any]", output: Callable[[Any], None]) -> None:
        failed, keeps = False, queue is self._queues[-1]
        while (item := queue.get()) is not _END:
            if failed or (self._stop.is_set() and not keeps):
                continue  # drain the queue, so that nobody waits
            if not isinstance(item, _Failure):
                try:
                    item = stage(item)
                except BaseException as error:
                    item = _Failure(error)
            failed = isinstance(item, _Failure)
            output(item)
        output(_END)

    def _collect(self, item: Any) -> None:
        """Keep the first error that leaves the last stage."""
        if isinstance(item, _Failure) and self._error is None:
            self._error = item.error
