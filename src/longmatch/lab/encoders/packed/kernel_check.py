"""Checks a kernel before its first use: on an untested GPU, one that fails is not used."""

import os
import warnings
from collections.abc import Callable

from torch import Tensor

from longmatch.errors import LongmatchWarning

MAX_ERROR = 0.03  # of a kernel, relative to the largest value: bfloat16 has 8 bits


def kernels_enabled() -> bool:
    """Whether our own kernels may be used at all."""
    return os.environ.get("LONGMATCH_KERNELS") != "0"


def works(name: str, error: Callable[[], float]) -> bool:
    """Whether a kernel runs and its `error` is small; otherwise warn that it is not used, and why."""
    try:
        size = error()
        reason = "" if size <= MAX_ERROR else f"it is off by {size:.3f}"
    except Exception as problem:  # whatever it is, there is a fallback
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0]
    if reason:
        warnings.warn(f"The {name} kernel is not used ({reason}).", LongmatchWarning, stacklevel=3)
    return not reason


def largest_error(actual: Tensor, expected: Tensor) -> float:
    """Largest absolute error, relative to the largest expected value."""
    return float((actual.float() - expected).abs().max() / expected.abs().max())
