"""Workers of a cluster that take one job at a time. The job of one that dies goes to another."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from longmatch.distributed.cluster import own_error
from longmatch.errors import LongmatchError

J = TypeVar("J")

TRIES = 4  # times a job is given out before it is held to be what kills the workers


@dataclass(frozen=True)
class Share:
    """How much of a machine one worker gets, and how many workers there are.

    None: a whole GPU where the cluster has some, and as many workers as there is room for.
    """

    cpus: float = 1.0
    gpus: float | None = None
    workers: int | None = None

    def among(self, nodes: Sequence[dict[str, Any]]) -> "Settled":
        """What that means on the machines of a cluster.

        >>> Share(cpus=0.5).among([{"Alive": True, "Resources": {"CPU": 2.0}}, {"Alive": False, "Resources": {}}])
        Settled(cpus=0.5, gpus=0.0, workers=4)
        """
        there = [node["Resources"] for node in nodes if node["Alive"]]
        gpus = (1.0 if any(r.get("GPU") for r in there) else 0.0) if self.gpus is None else self.gpus
        room = sum(int(min(_fits(r, "GPU", gpus), _fits(r, "CPU", self.cpus))) for r in there)
        workers = self.workers or room
        if not workers:
            raise LongmatchError(
                f"No machine of the cluster has {self.cpus:g} CPUs and {gpus:g} GPUs for a worker. "
                "Ask for less with --worker-cpus and --worker-gpus."
            )
        return Settled(self.cpus, gpus, workers)


@dataclass(frozen=True)
class Settled:
    """What each worker gets, and how many there are."""

    cpus: float
    gpus: float
    workers: int

    @property
    def resources(self) -> dict[str, float]:
        """For Ray."""
        return {"num_cpus": self.cpus, "num_gpus": self.gpus}

    @property
    def threads(self) -> int:
        """For torch."""
        return max(1, round(self.cpus))


def _fits(resources: dict[str, float], kind: str, wanted: float) -> float:
    return resources.get(kind, 0.0) / wanted if wanted else 1e6


@dataclass
class _Given(Generic[J]):
    job: J
    tries: int = 1


class Crew(Generic[J]):
    """`start` makes a worker, an actor with a method `ready`; `give` hands one a job and returns what it will give."""

    def __init__(self, ray: Any, size: int, start: Callable[[], Any], give: Callable[[Any, J], Any]) -> None:
        self._ray, self._start, self._give = ray, start, give
        self._busy: dict[Any, tuple[Any, _Given[J] | None]] = {}  # what is awaited: of whom, and for which job
        self._idle: list[Any] = []
        self._again: deque[_Given[J]] = deque()
        self._workers: list[Any] = []
        self._size = size

    def __enter__(self) -> "Crew[J]":
        for _ in range(self._size):
            self._hire()
        return self

    def __exit__(self, *_: object) -> None:
        """Let everybody go: the machines are free for others."""
        for worker in self._workers:
            self._ray.kill(worker)

    def work(self, jobs: Iterator[J]) -> Iterator[tuple[J, Any]]:
        """Each job with its result, as they come in; the next job is asked for when there is somebody to do it."""
        more = True
        while True:
            while self._idle and (more or self._again):
                given = self._again.popleft() if self._again else _next(jobs)
                if given is None:
                    more = False
                    break
                worker = self._idle.pop()
                self._busy[self._give(worker, given.job)] = worker, given
            if not more and not self._again and not any(given for _, given in self._busy.values()):
                return
            yield from self._wait()

    def _wait(self) -> Iterator[tuple[J, Any]]:
        errors = self._ray.exceptions
        done, _ = self._ray.wait(list(self._busy), num_returns=1)
        worker, given = self._busy.pop(done[0])
        try:
            result = self._ray.get(done[0])
        except errors.RayTaskError as error:
            raise own_error(error) from error
        except errors.RayError as error:  # a worker, its machine, or what it was given is gone
            if given is not None:
                self._take_back(given, error)
            if isinstance(error, errors.RayActorError):
                self._hire()
            else:
                self._idle.append(worker)
        else:
            self._idle.append(worker)
            if given is not None:
                yield given.job, result

    def _take_back(self, given: _Given[J], error: Exception) -> None:
        if given.tries == TRIES:
            raise LongmatchError(
                f"{TRIES} workers died over the same documents, so they may need more memory than there is "
                f"({type(error).__name__}). Run again with fewer workers a machine: --worker-cpus 2."
            ) from error
        self._again.append(_Given(given.job, given.tries + 1))

    def _hire(self) -> None:
        worker = self._start()
        self._workers.append(worker)
        self._busy[worker.ready.remote()] = worker, None


def _next(jobs: Iterator[J]) -> _Given[J] | None:
    for job in jobs:
        return _Given(job)
    return None
