"""What the processor of this machine can do, where a test's time depends on it."""

import platform
from pathlib import Path


def emulates_bfloat16() -> bool:
    """Whether bfloat16 products are computed number by number: on ARM without bf16 they take minutes."""
    facts = Path("/proc/cpuinfo")
    return platform.machine() == "aarch64" and not (facts.is_file() and "bf16" in facts.read_text(encoding="utf-8"))
