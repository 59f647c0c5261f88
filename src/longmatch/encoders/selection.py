"""Selecting the precision an engine computes in: the fastest that gives the same vectors on a few probe sentences."""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar, get_args

import numpy as np
from tokenizers import Tokenizer

from longmatch.cache import recall, remember
from longmatch.encoders.engine import Engine, EngineName, EnginePrecision, Ints, Vectors
from longmatch.encoders.hardware import fast_half_precision
from longmatch.errors import LongmatchError

T = TypeVar("T")
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
PRECISIONS: tuple[EnginePrecision, ...] = get_args(EnginePrecision)
MIN_COSINE = 0.9999  # with the float32 vector, for a vector to count as the same
PRECISION_CACHE = "precisions.json"

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


def from_environment(name: str, choices: Sequence[T]) -> T | None:
    """The choice that an environment variable names, where it is set."""
    value = os.environ.get(name) or None
    if value not in (None, *choices):
        raise LongmatchError(f"{name} is {value}. Set it to {' or '.join(map(str, choices))}, or leave it out.")
    return next((choice for choice in choices if choice == value), None)


def fastest_engine(
    make: Callable[[EnginePrecision], Engine], key: str, probe_vectors: Callable[[Engine], Vectors]
) -> Engine:
    """The engine in half precision where the processor has it and the vectors are the same, else in float32.

    What was found for `key`, which names the network, is remembered, so that the next start need not try again.
    """
    half = fast_half_precision()
    if half is None:
        return make("float32")
    key = f"{key}-{half}"
    known = recall(PRECISION_CACHE, key)
    if known is not None:
        return make(half if known else "float32")
    exact, candidate = make("float32"), make(half)
    faithful = bool(row_cosines(probe_vectors(candidate), probe_vectors(exact)).min() > MIN_COSINE)
    remember(PRECISION_CACHE, key, faithful)
    return candidate if faithful else exact


def row_cosines(a: Vectors, b: Vectors) -> Vectors:
    """Cosine of each row of a with the same row of b; all rows have length 1."""
    return np.asarray((a * b).sum(1), dtype=np.float32)
