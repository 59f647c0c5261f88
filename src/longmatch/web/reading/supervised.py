"""A reader's work under limits, and how it ended if it did not end well.

The work is done by a fork of this process, which is small: so the system's count of its memory is that of the work
alone, and a crash for lack of memory can be told from any other.
"""

import os
import signal
import sys
from collections.abc import Callable

NICE = 10  # the server and those who ask it come first
LATE, NO_MEMORY, CRASHED = 71, 72, 73  # exit codes
MUCH = 0.5  # of the memory: work that had as much when it crashed could get no more


def supervise(work: Callable[[], None], seconds: int, memory: int, largest_file: int = 0) -> None:
    """Do the work within so many seconds of processor time and bytes of memory, and exit by how it ended.

    It may write no file that is larger than `largest_file`, and by default none.
    """
    if not hasattr(os, "fork"):  # Windows: there the time limit of the parent holds alone
        work()
        return
    worker = os.fork()
    if not worker:
        os._exit(_done(work, seconds, memory, largest_file))
    _, status, usage = os.wait4(worker, 0)
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    sys.exit(verdict(os.waitstatus_to_exitcode(status), peak, memory))


def verdict(code: int, peak: int, memory: int) -> int:
    """The exit code that says why work ended; `code` is minus the signal that ended it, `peak` its bytes of memory.

    >>> verdict(-signal.SIGSEGV, 10_000_000, 2_000_000_000) == CRASHED
    True
    >>> verdict(-signal.SIGABRT, 1_900_000_000, 2_000_000_000) == NO_MEMORY
    True
    """
    if code == -signal.SIGXCPU:
        return LATE
    if code == -signal.SIGKILL or (code < 0 and peak >= MUCH * memory):
        return NO_MEMORY
    return CRASHED if code < 0 else code


def _done(work: Callable[[], None], seconds: int, memory: int, largest_file: int) -> int:
    import resource

    bounds = {resource.RLIMIT_AS: memory, resource.RLIMIT_CPU: seconds, resource.RLIMIT_FSIZE: largest_file}
    try:
        os.nice(NICE)
        for kind, value in (bounds | {resource.RLIMIT_CORE: 0}).items():  # and dump no core
            _, most = resource.getrlimit(kind)
            least = value if most == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(kind, (least, least))
        work()
        sys.stdout.flush()
    except MemoryError:
        return NO_MEMORY
    except Exception:  # what a reader did not expect; the server shows a sentence
        return CRASHED
    return 0
