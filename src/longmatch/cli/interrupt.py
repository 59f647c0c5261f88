"""Ctrl-C: the first ends the work in order, the second asks for patience, the third leaves at once."""

import os
import signal
import sys
from contextlib import contextmanager

TYPE_CHECKING = False  # this module is loaded first, and typing would double what that takes
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import NoReturn

INTERRUPTED = 130  # exit status: 128 and the number of SIGINT
STANDARD_ERROR = 2
PATIENCE = b"longmatch: still saving; press Ctrl-C again to quit immediately.\n"


def quiet_interrupts() -> None:
    """From now on Ctrl-C ends the process at once, in silence: nothing is open yet, or nothing any more."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def _leave(_signal: int, _frame: "FrameType | None") -> "NoReturn":
    os._exit(INTERRUPTED)


@contextmanager
def raised_interrupts() -> "Iterator[None]":
    """Within the block Ctrl-C raises KeyboardInterrupt, so that the command can close what it has open."""
    quiet = signal.getsignal(signal.SIGINT) is _leave
    if quiet:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if quiet:
            signal.signal(signal.SIGINT, _leave)


@contextmanager
def orderly_interrupts() -> "Iterator[None]":
    """Within the block only the first Ctrl-C raises KeyboardInterrupt, so that the next cannot disturb the closing."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # ignored, or someone else's
        yield
        return
    presses = 0

    def interrupt(_signal: int, _frame: "FrameType | None") -> None:
        nonlocal presses
        presses += 1
        if presses == 1:
            raise KeyboardInterrupt
        if presses == 2:
            os.write(STANDARD_ERROR, PATIENCE)
        else:
            os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        if not presses:  # else the process is about to end
            signal.signal(signal.SIGINT, signal.default_int_handler)


def leave_interrupted() -> "NoReturn":
    """End the process without the interpreter's clean-up, during which the threads of native libraries may abort it."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
