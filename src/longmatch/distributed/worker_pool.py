"""A pool of workers on a cluster, one job at a time each. When a worker dies, another takes over its job."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from longmatch.distributed.cluster import worker_error
from longmatch.errors import LongmatchError

T = TypeVar("T")

MAX_ATTEMPTS = 4  # at a job; then it must be the job that kills the workers


@dataclass(frozen=True)
class WorkerResources:
    """CPUs and GPUs per worker, and the number of workers.

    None means one GPU per worker if the cluster has any, and as many workers as fit.
    """

    cpus: float = 1.0
    gpus: float | None = None
    workers: int | None = None

    def allocate(self, nodes: Sequence[dict[str, Any]]) -> "WorkerAllocation":
        """Resolve the defaults for the machines of a cluster (Ray's list of nodes).

        >>> nodes = [{"Alive": True, "Resources": {"CPU": 2.0}}, {"Alive": False, "Resources": {}}]
        >>> WorkerResources(cpus=0.5).allocate(nodes)
        WorkerAllocation(cpus=0.5, gpus=0.0, workers=4)
        """
        machines = [node["Resources"] for node in nodes if node["Alive"]]
        gpus = (1.0 if any(r.get("GPU") for r in machines) else 0.0) if self.gpus is None else self.gpus
        fitting = sum(int(min(_fits(r, "GPU", gpus), _fits(r, "CPU", self.cpus))) for r in machines)
        workers = self.workers or fitting
        if not workers:
            raise LongmatchError(
                f"No machine of the cluster has {self.cpus:g} CPUs and {gpus:g} GPUs for a worker. "
                "Ask for less with --worker-cpus and --worker-gpus."
            )
        return WorkerAllocation(self.cpus, gpus, workers)


@dataclass(frozen=True)
class WorkerAllocation:
    """CPUs and GPUs per worker, and the number of workers, on a given cluster."""

    cpus: float
    gpus: float
    workers: int

    @property
    def resources(self) -> dict[str, float]:
        """Arguments of `ray.remote`."""
        return {"num_cpus": self.cpus, "num_gpus": self.gpus}

    @property
    def threads(self) -> int:
        """Number of torch threads per worker."""
        return max(1, round(self.cpus))


def _fits(resources: dict[str, float], kind: str, wanted: float) -> float:
    return resources.get(kind, 0.0) / wanted if wanted else 1e6


@dataclass
class _Attempt(Generic[T]):
    job: T
    number: int = 1


class WorkerPool(Generic[T]):
    """`start` creates a worker, an actor with a method `ready`; `submit` sends it a job and returns Ray's reference."""

    def __init__(self, ray: Any, size: int, start: Callable[[], Any], submit: Callable[[Any, T], Any]) -> None:
        self._ray, self._start, self._submit = ray, start, submit
        self._busy: dict[Any, tuple[Any, _Attempt[T] | None]] = {}  # by reference: the worker, and its job
        self._idle: list[Any] = []
        self._retries: deque[_Attempt[T]] = deque()
        self._workers: list[Any] = []
        self._size = size

    def __enter__(self) -> "WorkerPool[T]":
        for _ in range(self._size):
            self._start_worker()
        return self

    def __exit__(self, *_: object) -> None:
        """Release all workers and their machines."""
        for worker in self._workers:
            self._ray.kill(worker)

    def work(self, jobs: Iterator[T]) -> Iterator[tuple[T, Any]]:
        """Each job with its result, as they finish; a job is taken from `jobs` only when a worker is idle."""
        more = True
        while True:
            while self._idle and (more or self._retries):
                attempt = self._retries.popleft() if self._retries else _next(jobs)
                if attempt is None:
                    more = False
                    break
                worker = self._idle.pop()
                self._busy[self._submit(worker, attempt.job)] = worker, attempt
            if not more and not self._retries and not any(attempt for _, attempt in self._busy.values()):
                return
            yield from self._wait()

    def _wait(self) -> Iterator[tuple[T, Any]]:
        errors = self._ray.exceptions
        done, _ = self._ray.wait(list(self._busy), num_returns=1)
        worker, attempt = self._busy.pop(done[0])
        try:
            result = self._ray.get(done[0])
        except errors.RayTaskError as error:
            raise worker_error(error) from error
        except errors.RayError as error:  # a worker, its machine or its arguments are gone
            if attempt is not None:
                self._retry(attempt, error)
            if isinstance(error, errors.RayActorError):
                self._start_worker()
            else:
                self._idle.append(worker)
        else:
            self._idle.append(worker)
            if attempt is not None:
                yield attempt.job, result

    def _retry(self, attempt: _Attempt[T], error: Exception) -> None:
        if attempt.number == MAX_ATTEMPTS:
            raise LongmatchError(
                f"{MAX_ATTEMPTS} workers died over the same documents, which may need more memory than there is "
                f"({type(error).__name__}). Run again with fewer workers per machine: --worker-cpus 2."
            ) from error
        self._retries.append(_Attempt(attempt.job, attempt.number + 1))

    def _start_worker(self) -> None:
        worker = self._start()
        self._workers.append(worker)
        self._busy[worker.ready.remote()] = worker, None


def _next(jobs: Iterator[T]) -> _Attempt[T] | None:
    for job in jobs:
        return _Attempt(job)
    return None
