"""Which engine and precision read a backbone: the fastest that keeps its answers, tried on a few sentences."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Tokenizer
from torch import nn

from longmatch.encoders import openvino
from longmatch.encoders.engine import Engine, Ints, Numbers, Precision, TorchEngine
from longmatch.encoders.half import with_half_products
from longmatch.encoders.threads import set_threads
from longmatch.errors import LongmatchError

EngineName = Literal["torch", "openvino"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
NUMBERS: tuple[Numbers, ...] = ("float32", "mixed", "bfloat16")
Vectors = npt.NDArray[np.float32]
Encode = Callable[[Engine], Vectors]  # the vectors of the probes by an engine

FAITHFUL = 0.9999  # cosine to the vector of float32 from which on a vector is taken for the same
KEEPS_ANSWERS: dict[tuple[Any, str], bool] = {}  # by a compiled model, which lives as long as the process, and pooling

PROBES = (
    "Yes.",
    "The committee found that the river had changed its course twice since the first survey.",
    "A list keeps its items in order; a set keeps none, and answers at once whether it holds an item.",
    "§ 14 (2): the appeal was dismissed with costs, 3 judges to 2, on 9 May 1987.",
    "x = f(y[0], z) raises KeyError where y is empty",
    "Patients who slept under seven hours healed more slowly, though the difference vanished once age, weight and the "
    "severity of the fracture were taken into account, which earlier and smaller studies had not been able to do.",
)
"""Sentences of several lengths and kinds."""


def probes(tokenizer: Tokenizer, most: int) -> list[Ints]:
    """Token ids to try engines on: sentences, and tokens drawn from a vocabulary that may know none of their words."""
    sentences = [np.array(e.ids) for e in tokenizer.encode_batch(list(PROBES), add_special_tokens=False)]
    draw = np.random.default_rng(0)
    drawn = [draw.integers(tokenizer.get_vocab_size(), size=length) for length in (1, 2, 3, 5, 9, 20, 50, 120)]
    return [piece[:most].astype(np.int64) for piece in (*sentences, *drawn)]


def wished() -> tuple[Numbers | None, EngineName | None]:
    """The precision and engine that the environment asks for: LONGMATCH_PRECISION and LONGMATCH_ENGINE."""
    precision, engine = (_one_of(*known) for known in (("LONGMATCH_PRECISION", NUMBERS), ("LONGMATCH_ENGINE", ENGINES)))
    return cast("Numbers | None", precision), cast("EngineName | None", engine)


def _one_of(name: str, known: Sequence[str]) -> str | None:
    said = os.environ.get(name) or None
    if said not in (None, *known):
        raise LongmatchError(f"{name} is {said}. Set it to {' or '.join(known)}, or leave it out.")
    return said


def choose(
    model: nn.Module, precision: Numbers | None, engine: EngineName | None, encode: Encode, pooling: str
) -> Engine:
    """The engine and precision asked for; where that is left open, the fastest at hand that keeps the answers.

    `model` is in float32, and stays so unless all of it is asked for in bfloat16.
    """
    set_threads()
    if precision is not None:
        return _asked_for(model, precision, engine or "torch")
    exact = TorchEngine(model)

    @cache
    def reference() -> Vectors:
        return encode(exact)

    def is_faithful(candidate: Engine) -> bool:
        return bool(cosines(encode(candidate), reference()).min() > FAITHFUL)

    if engine == "openvino" or (engine is None and openvino.is_installed()):
        found = _openvino(model, required=engine is not None)
        if found:
            tried = found.compiled, pooling
            if tried not in KEEPS_ANSWERS:
                KEEPS_ANSWERS[tried] = is_faithful(found)
            if KEEPS_ANSWERS[tried]:
                return found
        if engine:
            return openvino.OpenvinoEngine(model, "float32")
    if multiplies_bfloat16():
        mixed = TorchEngine(with_half_products(model), "mixed")
        if is_faithful(mixed):
            return mixed
    return exact


def _openvino(model: nn.Module, required: bool) -> openvino.OpenvinoEngine | None:
    """None where it does not know a layer of the model, and need not."""
    try:
        return openvino.OpenvinoEngine(model, "mixed" if multiplies_bfloat16() else "float32")
    except RuntimeError:
        if required:
            raise
        return None


def _asked_for(model: nn.Module, precision: Numbers, engine: EngineName) -> Engine:
    if engine == "openvino":
        if precision not in openvino.HINTS:
            raise LongmatchError(f"OpenVINO reads in {' or '.join(openvino.HINTS)}, not in {precision}.")
        return openvino.OpenvinoEngine(model, precision)
    if precision == "mixed":
        return TorchEngine(with_half_products(model), "mixed")
    return TorchEngine(model.to(getattr(torch, precision)))


def cosines(a: Vectors, b: Vectors) -> Vectors:
    """Of row i with row i, where all rows have length 1."""
    return np.asarray((a * b).sum(1), dtype=np.float32)


def multiplies_bfloat16() -> bool:
    """Whether this processor has matrix units for bfloat16, and torch is free to use its widest instructions."""
    with suppress(AttributeError, RuntimeError):
        return bool(torch.cpu.get_capabilities().get("amx_bf16")) and _widest() != "AVX2"
    return False


def _widest() -> str:
    """The instructions torch uses: those of the processor, or fewer where ATEN_CPU_CAPABILITY says so."""
    return str(torch.backends.cpu.get_cpu_capability())


def native_precision(device: torch.device) -> Precision:
    """bfloat16 where the hardware multiplies it natively, else float32."""
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    return "bfloat16" if multiplies_bfloat16() else "float32"
