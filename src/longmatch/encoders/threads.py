"""How many threads encoding uses: no more than the cores this process may use."""

import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")  # a container's CPU time: microseconds per period

_limit: int | None = None


def limit_threads(count: int) -> None:
    """Let encoding use at most `count` threads; to be called before a model is loaded."""
    global _limit  # noqa: PLW0603 - one setting for the whole program
    _limit = count


def thread_count() -> int:
    """The number of threads encoding uses: the cores of this process, or fewer where it is limited to fewer."""
    limits = [usable_cores(), _limit, int(os.environ.get("OMP_NUM_THREADS") or 0)]
    return min(limit for limit in limits if limit)


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
