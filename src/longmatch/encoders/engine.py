"""Engines, which compute a backbone's vectors: the padded batches they take, and the precision they compute in.

The fastest precision is taken that gives the same vectors on a few probe sentences.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar, get_args

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from longmatch.cache import recall, remember
from longmatch.encoders.hardware import fast_half_precision
from longmatch.errors import LongmatchError

EngineName = Literal["openvino", "torch"]
EnginePrecision = Literal["float32", "float16", "mixed", "bfloat16"]
"""The precision an engine computes in.

float16: matrix products in half precision, for ARM processors; mixed: matrix products in bfloat16, sums, norms and
residuals in float32; bfloat16: everything, weights included.
"""

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Vectors = npt.NDArray[np.float32]
T = TypeVar("T")
R = TypeVar("R")
MULTIPLE = 4  # tokens; torch and OpenVINO cache something per batch shape, so there must be few shapes
SIMILAR = 0.9  # of the longest piece of a batch
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


class Engine(Protocol):
    """Computes the vectors of pieces of text."""

    name: str
    precision: EnginePrecision
    device_type: str  # cpu, cuda, ...

    def encode(self, pieces: Sequence[Ints], specials: tuple[int, int]) -> Iterator[tuple[Ints, Vectors]]:
        """Indices and unit vectors of the pieces (token ids) of each batch; `specials` are start and end tokens."""


@dataclass(frozen=True)
class Batch:
    """Pieces padded to the same length."""

    rows: Ints  # (pieces,) index of each piece in the whole input
    ids: Ints  # (pieces, tokens)
    mask: Flags  # (pieces, tokens), False for padding

    @staticmethod
    def of(rows: Ints, pieces: Sequence[Ints], specials: tuple[int, int], longest: int) -> "Batch":
        """Put the start and end tokens (`specials`) around each piece and pad; the model takes `longest` tokens.

        >>> Batch.of(np.array([0]), [np.array([7])], (1, 2), longest=5).ids.tolist()
        [[1, 7, 2, 0]]
        """
        lengths = lengths_of(pieces) + 2
        width = int(padded_lengths(lengths, longest).max())
        mask = np.arange(width) < lengths[:, None]
        ids = np.zeros((len(pieces), width), dtype=np.int64)
        inside = mask.copy()
        inside[:, 0] = inside[np.arange(len(pieces)), lengths - 1] = False
        ids[inside] = np.concatenate(pieces)
        ids[:, 0] = specials[0]
        ids[np.arange(len(pieces)), lengths - 1] = specials[1]
        return Batch(rows, ids, mask)


def padded_batches(
    pieces: Sequence[Ints], specials: tuple[int, int], longest: int, budget: int, least: int | None = None
) -> Iterator[Batch]:
    """Pieces of similar length together, at most `budget` tokens a batch, and at least about `least` of them."""
    for rows in token_batches(padded_lengths(lengths_of(pieces) + 2, longest), budget, least):
        yield Batch.of(rows, [pieces[row] for row in rows.tolist()], specials, longest)


def pipelined(items: Iterable[T], start: Callable[[T], Callable[[], R]], depth: int) -> Iterator[tuple[T, R]]:
    """Each item with its result, in order, with up to `depth` items in progress.

    `start` begins work on an item and returns a function that waits for the result.
    """
    busy: deque[tuple[T, Callable[[], R]]] = deque()

    try:
        for item in items:
            if len(busy) == depth:
                oldest, wait = busy.popleft()
                yield oldest, wait()
            busy.append((item, start(item)))
        while busy:
            oldest, wait = busy.popleft()
            yield oldest, wait()
    finally:
        for _, wait in busy:
            wait()


def lengths_of(pieces: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Number of tokens in each piece."""
    return np.fromiter(map(len, pieces), np.int64, len(pieces))


def padded_lengths(lengths: npt.NDArray[np.int64], longest: int) -> npt.NDArray[np.int64]:
    """Lengths rounded up to a multiple of MULTIPLE, but to no more than `longest`.

    >>> padded_lengths(np.array([3, 8, 9, 19]), longest=18).tolist()
    [4, 8, 12, 18]
    """
    return np.minimum(-(-lengths // MULTIPLE) * MULTIPLE, longest)


def token_batches(
    lengths: npt.NDArray[np.int64], budget: int, least: int | None = None
) -> Iterator[npt.NDArray[np.int64]]:
    """Group pieces into batches of at most `budget` tokens including padding; a longer piece gets its own batch.

    With `least`, a batch of so many tokens ends where pieces are shorter than SIMILAR of its longest: a few documents
    have pieces of all lengths and not many of each, and padding would cost more than another batch.

    >>> [batch.tolist() for batch in token_batches(np.array([3, 9, 4, 2]), budget=8)]
    [[1], [2, 0], [3]]
    >>> [batch.tolist() for batch in token_batches(np.array([9, 9, 2, 2]), budget=99, least=16)]
    [[0, 1], [2, 3]]
    """
    order = np.argsort(-lengths, kind="stable")
    falling = -lengths[order]
    start = 0
    while start < len(order):
        longest = max(1, int(-falling[start]))
        end = start + max(1, budget // longest)
        if least is not None:
            similar = int(np.searchsorted(falling, -SIMILAR * longest, side="right"))
            end = min(end, max(similar, start - (-least // longest)))
        yield order[start:end]
        start = end


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
