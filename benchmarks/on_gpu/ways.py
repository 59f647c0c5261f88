"""The ways of reading that are compared, and what makes each of them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import torch

from longmatch.encoders.packed import layers

WAYS = ("padded", "eager", "compiled", "unmixed")
SWITCHES = {  # LONGMATCH_PACKED, LONGMATCH_COMPILE
    "padded": ("0", "0"),
    "sorted": ("0", "0"),
    "eager": ("1", "0"),
    "compiled": ("1", "1"),
    "unmixed": ("1", "1"),
    "tuned": ("1", "1"),
}
TRIALS: dict[str, dict[str, Any]] = {  # what the compiler is told, where that is not what it does by itself
    "unmixed": {"triton.mix_order_reduction": False},
    "tuned": {"triton.mix_order_reduction": False, "max_autotune_gemm": True, "coordinate_descent_tuning": True},
}


@contextmanager
def switched(way: str) -> Iterator[None]:
    """The environment, and the compiler, that make this way of reading."""
    packed, compiled = SWITCHES[way]
    layer, compiler = _compiler(way)
    switches = {"LONGMATCH_PACKED": packed, "LONGMATCH_COMPILE": compiled}
    with patch.dict(os.environ, switches), patch.multiple(layers, compiled=layer, COMPILER=compiler):
        yield


@cache
def _compiler(way: str) -> tuple[Callable[[], layers.Layer], layers.Compiler]:
    """A trial has a compiled layer of its own."""
    if way not in TRIALS:
        return layers.compiled, layers.COMPILER
    return cache(lambda: torch.compile(layers.read_layer, options=TRIALS[way])), layers.Compiler()
