"""Long work that is asked for once and looked at until it is done."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass

from longmatch.errors import LongmatchError
from longmatch.web.problems import UNKNOWN, Problem, log
from longmatch.web.schema import Added, JobStanding, Ranking, State
from longmatch.web.worker import Worker


class Cancelled(Exception):
    """Raised inside a job that nobody wants any more."""


class Stopped(Cancelled):
    """Raised inside a job that ends because the server does."""


@dataclass
class Job:
    """One piece of long work; its numbers change while it runs."""

    id: str
    worker: Worker
    said: Callable[[str], str] = str  # how a failure is worded for clients
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

    def cancel(self, ending: type[Cancelled] = Cancelled) -> None:
        """Want it no more: it ends at its next part."""
        if not self.has_ended:
            self._ending = ending
            self.state, self.step = "cancelled", "cancelled"

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state not in ("waiting", "running")

    def standing(self) -> JobStanding:
        """As the interface reports it."""
        return JobStanding(
            job=self.id,
            state=self.state,
            step=self.step,
            done=self.done,
            total=self.total,
            result=self.result if self.state == "done" else None,
            detail=self.detail,
        )

    def run(self, work: "Work") -> None:
        """Do the work, in the scoring thread; of cancelled work it is what cleans up."""
        if self._ending is None:
            self.state = "running"
        try:
            result = work(self)
        except Cancelled:
            self.state, self.step = "cancelled", "cancelled"
        except LongmatchError as error:
            self._fail(self.said(str(error)))
        except Exception as error:
            log.error("a job failed", exc_info=error)
            self._fail(UNKNOWN)
        else:
            if self._ending is None or isinstance(result, Added):  # what was added is in the library
                self.result, self.step, self.state = result, "done", "done"

    def _fail(self, sentence: str) -> None:
        self.detail, self.step, self.state = sentence, "failed", "failed"


Work = Callable[[Job], Ranking | Added]


class Jobs:
    """The jobs of a server: a bounded number, finished ones kept until there are newer ones."""

    def __init__(self, worker: Worker, most: int, said: Callable[[str], str] = str) -> None:
        self._worker, self._most, self._said = worker, most, said
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, work: Work) -> Job:
        """Begin a job; refused while too many are under way."""
        with self._lock:
            self._make_room()
            job = Job(f"j-{secrets.token_hex(8)}", self._worker, self._said)
            self._jobs[job.id] = job
        self._worker.begin(job.run, work)
        return job

    def get(self, id: str) -> Job:
        """The job of that id."""
        with self._lock:
            job = self._jobs.get(id)
        if job is None:
            raise Problem(404, "There is no such job, or it was done long ago. Start it again.")
        return job

    def stop(self) -> None:
        """End them all with the server."""
        for job in list(self._jobs.values()):
            job.cancel(Stopped)

    def _make_room(self) -> None:
        ended = [id for id, job in self._jobs.items() if job.has_ended]
        while len(self._jobs) >= self._most:
            if not ended:
                raise Problem(429, "Too many jobs are under way. Wait for one to end.", {"Retry-After": "5"})
            del self._jobs[ended.pop(0)]
