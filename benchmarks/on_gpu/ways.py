"""The ways of reading that are compared, and what makes each of them."""

import os
from contextlib import AbstractContextManager
from unittest.mock import patch

WAYS = ("padded", "packed", "kernels")
SWITCHES = {  # LONGMATCH_PACKED, LONGMATCH_KERNELS
    "padded": ("0", "0"),
    "sorted": ("0", "0"),
    "packed": ("1", "0"),
    "kernels": ("1", "1"),
}


def switched(way: str) -> AbstractContextManager[object]:
    """The environment that makes this way of reading."""
    packed, kernels = SWITCHES[way]
    return patch.dict(os.environ, {"LONGMATCH_PACKED": packed, "LONGMATCH_KERNELS": kernels})
