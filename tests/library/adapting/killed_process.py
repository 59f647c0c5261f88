"""Goes on adapting a library, and dies (SIGKILL) when its documents are encoded again but not yet in place.

python -m tests.library.adapting.killed_process MODEL LIBRARY
"""

import os
import signal
import sys
from pathlib import Path

from longmatch.library.library import Library

from ..tiny import tiny_matcher


def die(what: str, done: int, of_all: int) -> None:
    if what == "encoding again":
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    Library(sys.argv[2], tiny_matcher(Path(sys.argv[1]))).adapt(progress=die)
