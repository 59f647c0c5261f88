"""Selecting a backbone's engine and precision: the fastest that gives the same vectors on a few probe sentences."""

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
from longmatch.encoders.engine import Engine, EnginePrecision, Ints, Precision, TorchEngine
from longmatch.encoders.mixed_precision import with_bfloat16_linears
from longmatch.encoders.threads import limit_threads
from longmatch.errors import LongmatchError

EngineName = Literal["torch", "openvino"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
PRECISIONS: tuple[EnginePrecision, ...] = ("float32", "mixed", "bfloat16")
Vectors = npt.NDArray[np.float32]
Encode = Callable[[Engine], Vectors]

MIN_COSINE = 0.9999  # with the float32 vector, for a vector to count as the same
IS_FAITHFUL: dict[tuple[Any, str], bool] = {}  # by compiled model, which lives as long as the process, and pooling

PROBES = (
    "Yes.",
    "The committee found that the river had changed its course twice since the first survey.",
    "A list keeps its items in order; a set keeps none, and answers at once whether it holds an item.",
    "§ 14 (2): the appeal was dismissed with costs, 3 judges to 2, on 9 May 1987.",
    "x = f(y[0], z) raises KeyError where y is empty",
    "Patients who slept under seven hours healed more slowly, though the difference vanished once age, weight and the "
    "severity of the fracture were taken into account, which earlier and smaller studies had not been able to do.",
)


def probe_pieces(tokenizer: Tokenizer, max_tokens: int) -> list[Ints]:
    """Token ids to try engines on: sentences, and random tokens, as the vocabulary may lack the sentences' words."""
    sentences = [np.array(e.ids) for e in tokenizer.encode_batch(list(PROBES), add_special_tokens=False)]
    rng = np.random.default_rng(0)
    random = [rng.integers(tokenizer.get_vocab_size(), size=length) for length in (1, 2, 3, 5, 9, 20, 50, 120)]
    return [piece[:max_tokens].astype(np.int64) for piece in (*sentences, *random)]


def precision_and_engine_from_environment() -> tuple[EnginePrecision | None, EngineName | None]:
    """The values of LONGMATCH_PRECISION and LONGMATCH_ENGINE, where they are set."""
    precision, engine = _environment("LONGMATCH_PRECISION", PRECISIONS), _environment("LONGMATCH_ENGINE", ENGINES)
    return cast("EnginePrecision | None", precision), cast("EngineName | None", engine)


def _environment(name: str, choices: Sequence[str]) -> str | None:
    value = os.environ.get(name) or None
    if value not in (None, *choices):
        raise LongmatchError(f"{name} is {value}. Set it to {' or '.join(choices)}, or leave it out.")
    return value


def select_engine(
    model: nn.Module, precision: EnginePrecision | None, engine: EngineName | None, encode: Encode, pooling: str
) -> Engine:
    """The requested engine and precision; where left open, the fastest available that gives the same vectors.

    `encode` gives an engine's vectors of the probes. `model` is in float32, and stays so unless bfloat16 is requested.
    """
    limit_threads()
    if precision is not None:
        return _requested(model, precision, engine or "torch")
    exact = TorchEngine(model)

    @cache
    def reference() -> Vectors:
        return encode(exact)

    def is_faithful(candidate: Engine) -> bool:
        return bool(row_cosines(encode(candidate), reference()).min() > MIN_COSINE)

    if engine == "openvino" or (engine is None and openvino.is_installed()):
        candidate = _openvino(model, required=engine is not None)
        if candidate:
            key = candidate.compiled, pooling
            if key not in IS_FAITHFUL:
                IS_FAITHFUL[key] = is_faithful(candidate)
            if IS_FAITHFUL[key]:
                return candidate
        if engine:
            return openvino.OpenvinoEngine(model, "float32")
    if has_fast_bfloat16():
        mixed = TorchEngine(with_bfloat16_linears(model), "mixed")
        if is_faithful(mixed):
            return mixed
    return exact


def _openvino(model: nn.Module, required: bool) -> openvino.OpenvinoEngine | None:
    """None if OpenVINO does not support a layer of the model and is not `required`."""
    try:
        return openvino.OpenvinoEngine(model, "mixed" if has_fast_bfloat16() else "float32")
    except RuntimeError:
        if required:
            raise
        return None


def _requested(model: nn.Module, precision: EnginePrecision, engine: EngineName) -> Engine:
    if engine == "openvino":
        if precision not in openvino.HINTS:
            raise LongmatchError(f"OpenVINO computes in {' or '.join(openvino.HINTS)}, not in {precision}.")
        return openvino.OpenvinoEngine(model, precision)
    if precision == "mixed":
        return TorchEngine(with_bfloat16_linears(model), "mixed")
    return TorchEngine(model.to(getattr(torch, precision)))


def row_cosines(a: Vectors, b: Vectors) -> Vectors:
    """Cosine of each row of a with the same row of b; all rows have length 1."""
    return np.asarray((a * b).sum(1), dtype=np.float32)


def has_fast_bfloat16() -> bool:
    """Whether this CPU has matrix units for bfloat16, and torch may use them."""
    with suppress(AttributeError, RuntimeError):
        return bool(torch.cpu.get_capabilities().get("amx_bf16")) and _cpu_capability() != "AVX2"
    return False


def _cpu_capability() -> str:
    """The instruction set torch uses: the CPU's, or a smaller one set by ATEN_CPU_CAPABILITY."""
    return str(torch.backends.cpu.get_cpu_capability())


def native_precision(device: torch.device) -> Precision:
    """bfloat16 where the hardware multiplies it natively, else float32."""
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    return "bfloat16" if has_fast_bfloat16() else "float32"
