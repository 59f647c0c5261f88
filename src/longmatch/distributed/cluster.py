"""A connection to a Ray cluster, and its complaints as sentences."""

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from longmatch.errors import LongmatchError

HERE = "auto"  # the cluster this machine belongs to, else one that is started here


def ray_module() -> Any:
    """Ray, or a sentence that says how to get it."""
    for name in ("ray", "lance"):
        if find_spec(name) is None:
            raise LongmatchError("Work on several machines needs Ray. Install it: pip install 'longmatch[ray]'.")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    import ray

    return ray


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray, connected for as long as it is needed; a connection that is there already is used and kept."""
    ray = ray_module()
    if ray.is_initialized():
        yield ray
        return
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "lancedb fork support")  # Ray's processes are other programs at once
            ray.init(None if address in {None, HERE} else address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise LongmatchError(
            f"There is no Ray cluster at {address or HERE} ({_line(error)}). Start one with ray start --head and name "
            "its address, or leave the address out."
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def whole(address: str) -> str:
    """A library's address as any process understands it, wherever it runs."""
    return address if "://" in address else str(Path(address).absolute())


def own_error(error: Any) -> LongmatchError:
    """What went wrong inside a worker, as the worker said it."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, LongmatchError):
        return cause
    return LongmatchError(f"A worker of the cluster failed ({type(cause or error).__name__}: {_line(cause or error)}).")


def _line(error: object) -> str:
    words = " ".join(str(error).split())
    return words[:200] + ("…" if len(words) > 200 else "")
