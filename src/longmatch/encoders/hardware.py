"""What this machine computes fast: threads, half precision on its processor, and a GPU that torch could use."""

import os
import platform
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

CPU_INFO = Path("/proc/cpuinfo")
QUOTA = Path("/sys/fs/cgroup/cpu.max")  # a container's CPU time: microseconds per period


@cache
def fast_half_precision() -> Literal["float16", "mixed"] | None:
    """The precision of 16 bits that this processor multiplies faster than float32.

    Intel's matrix units multiply bfloat16, ARM's vector units float16.
    """
    flags = cpu_flags()
    if "amx_bf16" in flags:
        return "mixed"
    is_apple = platform.system() == "Darwin" and platform.machine() == "arm64"
    return "float16" if is_apple or {"asimdhp", "fphp"} & flags else None


def cpu_flags() -> frozenset[str]:
    """The features of the processor, as Linux lists them; nothing elsewhere."""
    if not CPU_INFO.is_file():
        return frozenset()
    lines = CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    found = (line.partition(":")[2].split() for line in lines if line.lower().startswith(("flags", "features")))
    return frozenset(next(found, ()))


def torch_is_installed() -> bool:
    """Whether the extra `lab` is there."""
    return find_spec("torch") is not None and find_spec("transformers") is not None


def may_have_gpu() -> bool:
    """Whether it is worth importing torch to ask for a GPU."""
    if not torch_is_installed():
        return False
    from ctypes.util import find_library

    is_nvidia = Path("/proc/driver/nvidia/version").exists() or find_library("nvcuda") is not None
    return is_nvidia or Path("/dev/kfd").exists()


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
