"""Kernels are tried before their first use: what fails on a GPU that nobody here has seen is left out."""

import os
import warnings
from collections.abc import Callable

from torch import Tensor

from longmatch.errors import LongmatchWarning

NEAR = 0.03  # how far a kernel may be from the obvious way, of the largest number: bfloat16 has 8 bits


def are_wanted() -> bool:
    """Whether our own kernels are to be used at all."""
    return os.environ.get("LONGMATCH_KERNELS") != "0"


def works(name: str, error: Callable[[], float]) -> bool:
    """Whether a kernel runs and is near enough to the obvious way; else a warning says why it is not used."""
    try:
        found = error()
        reason = "" if found <= NEAR else f"it is off by {found:.3f}"
    except Exception as problem:  # whatever it is: there is another way
        reason = f"{type(problem).__name__}: {problem}".splitlines()[0]
    if reason:
        warnings.warn(f"The {name} kernel is not used ({reason}).", LongmatchWarning, stacklevel=3)
    return not reason


def largest_error(ours: Tensor, judge: Tensor) -> float:
    """As a share of the judge's largest number."""
    return float((ours.float() - judge).abs().max() / judge.abs().max())
