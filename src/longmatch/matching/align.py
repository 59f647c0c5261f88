"""Aligned passages and the share of the score each carries."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.matching.match import Alignment, Passage

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """What each sentence of one document contributes, and the sentence of the other it owes that to."""

    partner: Ints  # -1 where there is none
    mass: Floats
    lexical: bool = False


def merge(forward: Iterable[Evidence], backward: Iterable[Evidence]) -> dict[tuple[int, int], tuple[float, float]]:
    """Sum the evidence of both directions a pair: {(a, b): (all of it, its lexical part)}."""
    pairs: dict[tuple[int, int], tuple[float, float]] = {}
    for swap, side in ((False, forward), (True, backward)):
        for evidence in side:
            for here in np.flatnonzero((evidence.mass > 0) & (evidence.partner >= 0)).tolist():
                there = int(evidence.partner[here])
                key = (there, here) if swap else (here, there)
                mass = float(evidence.mass[here])
                whole, lexical = pairs.get(key, (0.0, 0.0))
                pairs[key] = (whole + mass, lexical + (mass if evidence.lexical else 0.0))
    return pairs


def alignments(
    pairs: dict[tuple[int, int], tuple[float, float]],
    passages: tuple[Callable[[int], Passage], Callable[[int], Passage]],
    scores: Callable[[Ints, Ints], Floats],
    words: Callable[[int, int], tuple[str, ...]],
    most: int | None = None,
) -> tuple[Alignment, ...]:
    """The pairs as passages, the strongest first, their contributions summing to 1; or only the strongest `most`."""
    total = sum(whole for whole, _ in pairs.values())
    if not total:
        return ()
    ordered = sorted(pairs.items(), key=lambda item: (-item[1][0], item[0]))[:most]
    a = np.array([key[0] for key, _ in ordered], dtype=np.int64)
    b = np.array([key[1] for key, _ in ordered], dtype=np.int64)
    return tuple(
        Alignment(passages[0](i), passages[1](j), float(score), whole / total, lexical / total, words(i, j))
        for ((i, j), (whole, lexical)), score in zip(ordered, scores(a, b).tolist(), strict=True)
    )
