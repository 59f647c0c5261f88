"""How many threads encoding uses: limited, when a model is loaded, to the cores this process may use."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier

import torch

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # a container's CPU time: microseconds per period


def limit_threads(count: int | None = None) -> int:
    """Limit torch to `count` threads, and to the cores this process may use; returns the number of threads.

    A smaller number already set is kept. By default torch starts a thread for every core of the machine, even in a
    container or under `taskset`, and the threads then wait for each other.
    """
    cores = usable_cores()
    limit = min(count or cores, cores)
    if torch.get_num_threads() > limit:
        torch.set_num_threads(limit)
    return torch.get_num_threads()


@contextmanager
def single_core_pool(count: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of `count` threads in each of which torch uses one core; other threads keep their setting."""
    before, ready = torch.get_num_threads(), Barrier(count + 1)

    def begin() -> None:
        torch.get_num_threads()  # the first call in a thread resets its number to the one set last in any thread
        torch.set_num_threads(1)
        ready.wait()

    with ThreadPoolExecutor(count) as pool:
        for _ in range(count):
            pool.submit(begin)
        ready.wait()
        torch.set_num_threads(before)
        yield pool


def usable_cores() -> int:
    """Number of cores this process may run on, within its container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, cores_in_quota(QUOTA.read_text(encoding="utf-8")) if QUOTA.is_file() else cores))


def cores_in_quota(line: str) -> int:
    """Cores granted by a container's `cpu.max`, rounded up.

    >>> cores_in_quota("150000 100000"), cores_in_quota("max 100000") > 1000
    (2, True)
    """
    work, period = line.split()
    return 1_000_000 if work == "max" else -(-int(work) // int(period))
