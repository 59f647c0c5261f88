"""How many threads encoding takes: set when a model is opened, by what this process may use."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier

import torch

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # what a container may use: microseconds of work a period


def set_threads(share: int | None = None) -> int:
    """No more threads than this process has cores, or than its share of them; how many that is.

    A smaller number that was set stays. Left alone, torch takes all cores of the machine, in a container or beside
    `taskset` too: they would then wait for each other.
    """
    cores = usable_cores()
    most = min(share or cores, cores)
    if torch.get_num_threads() > most:
        torch.set_num_threads(most)
    return torch.get_num_threads()


@contextmanager
def one_core_each(count: int) -> Iterator[ThreadPoolExecutor]:
    """So many threads, in each of which torch computes on one core; elsewhere it goes on as before."""
    before, ready = torch.get_num_threads(), Barrier(count + 1)

    def begin() -> None:
        torch.get_num_threads()  # a thread's first question sets its number to the last that was set anywhere
        torch.set_num_threads(1)
        ready.wait()

    with ThreadPoolExecutor(count) as pool:
        for _ in range(count):
            pool.submit(begin)
        ready.wait()
        torch.set_num_threads(before)
        yield pool


def usable_cores() -> int:
    """The cores this process may run on, and no more than its container is given."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, quota(QUOTA.read_text(encoding="utf-8")) if QUOTA.is_file() else cores))


def quota(line: str) -> int:
    """Whole cores of a container's `cpu.max`, a part of one counting as one.

    >>> quota("150000 100000"), quota("max 100000") > 1000
    (2, True)
    """
    work, period = line.split()
    return 1_000_000 if work == "max" else -(-int(work) // int(period))
