"""One thread does all the scoring: a model serves one question at a time, and the server answers others meanwhile.

Questions are taken in the order they come. A job, which may take minutes, begins after the question being answered, and
lets the waiting questions pass whenever it reports progress: they are answered by the same thread, in between.
"""

import asyncio
import secrets
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.errors import LongmatchError
from longmatch.web.problems import STOPPING, UNKNOWN, Problem, log, too_many
from longmatch.web.schema import Added, JobStanding, Ranking, State

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
        return await asyncio.wrap_future(self.question(lambda: function(*arguments, **named)))

    def question(self, function: Callable[[], T]) -> "Future[T]":
        """The answer to come, for a caller who does something else meanwhile."""
        if len(self._questions) >= self.most:
            raise too_many()
        return self._put(self._questions, function)

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
                future.set_exception(Problem(503, STOPPING))
        if thread is not None:
            thread.join(patience)

    def _put(self, queue: deque[Task], function: Callable[[], T]) -> "Future[T]":
        future: Future[T] = Future()
        with self._there:
            if self._closed:
                raise Problem(503, STOPPING)
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


class Cancelled(Exception):
    """Raised inside a job that nobody wants any more."""


class Stopped(Cancelled):
    """Raised inside a job that ends because the server does."""


@dataclass
class Job:
    """One piece of long work that is asked for once and looked at until it is done; its numbers change meanwhile."""

    id: str
    worker: Worker
    state: State = "waiting"
    step: str = "waiting for its turn"
    done: int = 0
    total: int = 0
    result: Ranking | Added | None = None
    detail: str | None = None
    _ending: type[Cancelled] | None = None

    def begin(self, step: str, total: int = 0) -> None:
        """Say what comes next, and of how many parts it is."""
        self.step, self.done, self.total = step, 0, total
        self.advance(0)

    def advance(self, parts: int = 1) -> None:
        """Count parts done; the place where a job ends if it was cancelled, and where it lets others pass."""
        if self._ending is not None:
            raise self._ending
        self.done += parts
        self.worker.breathe()

    def encode(self, matcher: HybridMatcher, documents: Sequence[Document]) -> list[Encoding]:
        """Encode documents, token by token."""
        tokens = matcher.tokenize(documents)
        self.begin("encoding the document", sum(map(len, tokens)))
        return matcher.encode_tokens(tokens, on_tokens=self.advance)

    def cancel(self, ending: type[Cancelled] = Cancelled) -> None:
        """Want it no more: it ends at its next part."""
        if not self.has_ended:
            self._ending = ending
            self.state = self.step = "cancelled"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state not in ("waiting", "running")

    def standing(self) -> JobStanding:
        """As the interface reports it."""
        return JobStanding.model_validate(self)

    def run(self, work: "Work", worded: Callable[[str], str]) -> None:
        """Do the work, in the scoring thread; of cancelled work it is what cleans up. `worded` is for its failure."""
        if self._ending is None:
            self.state = "running"
        try:
            result = work(self)
        except Cancelled:
            self.state = self.step = "cancelled"
        except LongmatchError as error:
            self.state, self.step, self.detail = "failed", "failed", worded(str(error))
        except Exception as error:
            log.error("a job failed", exc_info=error)
            self.state, self.step, self.detail = "failed", "failed", UNKNOWN
        else:
            if self._ending is None or isinstance(result, Added):  # what was added is in the library
                self.step, self.result = "done", result
                self.state = "done"


Work = Callable[[Job], Ranking | Added]


class Jobs:
    """The jobs of a server: a bounded number, finished ones kept until there are newer ones."""

    def __init__(self, worker: Worker, most: int, worded: Callable[[str], str]) -> None:
        self._worker, self._most, self._worded = worker, most, worded
        self.known: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, work: Work) -> Job:
        """Begin a job; refused while too many are under way."""
        with self._lock:
            ended = [id for id, job in self.known.items() if job.has_ended]
            while len(self.known) >= self._most:
                if not ended:
                    raise Problem(429, "Too many jobs are under way. Wait for one to end.", {"Retry-After": "5"})
                del self.known[ended.pop(0)]
            job = Job(f"j-{secrets.token_hex(8)}", self._worker)
            self.known[job.id] = job
        self._worker.begin(job.run, work, self._worded)
        return job

    def get(self, id: str) -> Job:
        """The job of that id."""
        with self._lock:
            job = self.known.get(id)
        if job is None:
            raise Problem(404, "There is no such job, or it was done long ago. Start it again.")
        return job

    def stop(self) -> None:
        """End them all with the server."""
        for job in list(self.known.values()):
            job.cancel(Stopped)
