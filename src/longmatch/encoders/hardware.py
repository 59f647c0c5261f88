"""What this machine computes fast: half precision on its processor, and a GPU that torch could use."""

import platform
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

CPU_INFO = Path("/proc/cpuinfo")


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
