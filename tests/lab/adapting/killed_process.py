"""Goes on adapting a library, and dies (SIGKILL) when its documents are encoded again but not yet in place."""

import os
import signal
from pathlib import Path

from longmatch.lab.adapting.adapt import adapt
from longmatch.library.library import Library
from tests.library.tiny import tiny_matcher


def die(what: str, done: int, of_all: int) -> None:
    if what == "encoding again":
        os.kill(os.getpid(), signal.SIGKILL)


def adapt_and_die(model: str, library: str) -> None:
    adapt(Library(library, tiny_matcher(Path(model))), progress=die)
