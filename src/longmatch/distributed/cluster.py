"""Connecting to a Ray cluster, and its errors as sentences."""

import logging
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from longmatch.errors import LongmatchError

AUTO = "auto"  # the cluster this machine belongs to, else one started here
T = TypeVar("T")

MAX_ATTEMPTS = 4  # at a job; then it must be the job that kills the workers


def ray_module() -> Any:
    """Import Ray; if it is missing, the error says how to install it."""
    for name in ("ray", "lance"):
        if find_spec(name) is None:
            raise LongmatchError("Running on several machines needs Ray. Install it: pip install 'longmatch[ray]'.")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry
    import ray

    return ray


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray, connected within the `with` block; an existing connection is used and kept."""
    ray = ray_module()
    if ray.is_initialized():
        yield ray
        return
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "lancedb fork support")  # Ray executes new programs right after it forks
            ray.init(None if address in {None, AUTO} else address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise LongmatchError(
            f"No Ray cluster was found at {address or AUTO} ({_line(error)}). Start one with ray start --head and pass "
            "its address, or leave the address out."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def absolute_address(address: str) -> str:
    """A library's address, valid in any working directory."""
    return address if "://" in address else str(Path(address).absolute())


def worker_error(error: Any) -> LongmatchError:
    """The error a worker raised; if it is not one of ours, a sentence about it."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, LongmatchError):
        return cause
    return LongmatchError(f"A worker of the cluster failed ({type(cause or error).__name__}: {_line(cause or error)}).")


def _line(error: object) -> str:
    words = " ".join(str(error).split())
    return words[:200] + ("…" if len(words) > 200 else "")


@dataclass(frozen=True)
class WorkerResources:
    """CPUs and GPUs per worker, and the number of workers.

    None means one GPU per worker if the cluster has any; 0 workers mean as many as fit.
    """

    cpus: float = 1.0
    gpus: float | None = None
    workers: int = 0  # as many as fit

    def allocate(self, nodes: Sequence[dict[str, Any]]) -> "WorkerResources":
        """The defaults resolved for the machines of a cluster (Ray's list of nodes).

        >>> nodes = [{"Alive": True, "Resources": {"CPU": 2.0}}, {"Alive": False, "Resources": {}}]
        >>> WorkerResources(cpus=0.5).allocate(nodes)
        WorkerResources(cpus=0.5, gpus=0.0, workers=4)
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
        return WorkerResources(self.cpus, gpus, workers)

    @property
    def options(self) -> dict[str, float]:
        """Arguments of `ray.remote`."""
        return {"num_cpus": self.cpus, "num_gpus": self.gpus or 0.0}

    @property
    def threads(self) -> int:
        """Number of threads per worker."""
        return max(1, round(self.cpus))


def _fits(resources: dict[str, float], kind: str, wanted: float) -> float:
    return resources.get(kind, 0.0) / wanted if wanted else 1e6


class WorkerPool(Generic[T]):
    """`start` creates a worker, an actor with a method `ready`; `submit` sends it a job and returns Ray's reference."""

    def __init__(self, ray: Any, size: int, start: Callable[[], Any], submit: Callable[[Any, T], Any]) -> None:
        self._ray, self._start, self._submit = ray, start, submit
        self._busy: dict[Any, tuple[Any, tuple[T, int] | None]] = {}  # by reference
        self._idle: list[Any] = []
        self._retries: deque[tuple[T, int]] = deque()
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
                attempt = self._retries.popleft() if self._retries else next(((job, 1) for job in jobs), None)
                if attempt is None:
                    more = False
                    break
                worker = self._idle.pop()
                self._busy[self._submit(worker, attempt[0])] = worker, attempt
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
                job, number = attempt
                if number == MAX_ATTEMPTS:
                    raise LongmatchError(
                        f"{MAX_ATTEMPTS} workers died over the same documents, which may need more memory than there "
                        f"is ({type(error).__name__}). Run again with fewer workers per machine: --worker-cpus 2."
                    ) from error
                self._retries.append((job, number + 1))
            if isinstance(error, errors.RayActorError):
                self._start_worker()
            else:
                self._idle.append(worker)
        else:
            self._idle.append(worker)
            if attempt is not None:
                yield attempt[0], result

    def _start_worker(self) -> None:
        worker = self._start()
        self._workers.append(worker)
        self._busy[worker.ready.remote()] = worker, None
