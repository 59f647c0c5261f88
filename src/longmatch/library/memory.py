"""What the C library keeps of memory that was freed."""

import ctypes
import sys

from longmatch.encoders.threads import usable_cores

ARENA_MAX = -8  # of mallopt


def keep_few_pools() -> None:
    """As many pools of freed memory as there are cores.

    glibc would give every thread its own, up to eight a core, and hardly gives any of it back: a library that is
    written and read by dozens of threads would hold twice the memory it needs, and more every hour.
    """
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(ARENA_MAX, usable_cores())
