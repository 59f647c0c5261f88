"""Connecting to a Ray cluster, and its errors as sentences."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from longmatch.errors import LongmatchError

AUTO = "auto"  # the cluster this machine belongs to, else one started here


def ray_module() -> Any:
    """Import Ray; if it is missing, the error says how to install it."""
    for name in ("ray", "lance"):
        if find_spec(name) is None:
            raise LongmatchError("Running on several machines needs Ray. Install it: pip install 'longmatch[ray]'.")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no telemetry
    import ray

    return ray


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray, connected within the `with` block; an existing connection is used and kept."""
    ray = ray_module()
    if ray.is_initialized():
        yield ray
        return
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "lancedb fork support")  # Ray executes new programs right after it forks
            ray.init(None if address in {None, AUTO} else address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise LongmatchError(
            f"No Ray cluster was found at {address or AUTO} ({_line(error)}). Start one with ray start --head and pass "
            "its address, or leave the address out."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def absolute_address(address: str) -> str:
    """A library's address, valid in any working directory."""
    return address if "://" in address else str(Path(address).absolute())


def worker_error(error: Any) -> LongmatchError:
    """The error a worker raised; if it is not one of ours, a sentence about it."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, LongmatchError):
        return cause
    return LongmatchError(f"A worker of the cluster failed ({type(cause or error).__name__}: {_line(cause or error)}).")


def _line(error: object) -> str:
    words = " ".join(str(error).split())
    return words[:200] + ("…" if len(words) > 200 else "")
