"""Processes of their own that start at once: forked from one that has loaded what they need and done nothing yet."""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

LOADED = [
    "accelerate",
    "transformers.trainer",
    "longmatch.lab.training.trainer",
    "longmatch.library.library",
    "lancedb",
]
LOADED += ["longmatch.cli.app", "longmatch.web.app", "uvicorn"]

_context = get_context("forkserver")
_context.set_forkserver_preload(LOADED)


def start(
    work: Callable[..., Any],
    *arguments: Any,
    out: Path | None = None,
    err: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Any:
    """A process at work, the first of a group of its own; what it prints goes to files."""
    process = _context.Process(target=_begin, args=(work, arguments, (out, err), dict(environment or {})))
    process.start()
    return process


def pipe() -> tuple[Connection, Connection]:
    """Two ends, of which a process can be given one."""
    return _context.Pipe()


def longmatch(*words: object) -> None:
    """The command, as the user runs it, which says nothing of how long the machine takes."""
    from longmatch.cli import progress
    from longmatch.cli.app import main

    progress.PATIENCE = 600.0
    sys.argv = ["longmatch", *map(str, words)]
    main()


def _begin(
    work: Callable[..., Any],
    arguments: tuple[Any, ...],
    prints: tuple[Path | None, Path | None],
    environment: dict[str, str],
) -> None:
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that it is ignored
    os.environ.update(environment)
    for number, path in enumerate(prints, start=1):
        with (path or Path(os.devnull)).open("w") as file:
            os.dup2(file.fileno(), number)
    work(*arguments)
