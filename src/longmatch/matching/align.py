"""Aligned passages and the share of the score each carries."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.matching.match import Alignment, Passage
from longmatch.matching.presentable import choose

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """What each sentence of one document contributes, and the sentence of the other it owes that to."""

    partner: Ints  # -1 where there is none
    mass: Floats
    lexical: bool = False


@dataclass(frozen=True)
class Pairs:
    """Pairs of sentences with the evidence they carry, sorted by sentence."""

    a: Ints
    b: Ints
    mass: Floats
    lexical: Floats  # part of the mass

    def strongest(self) -> Ints:
        """The places of the pairs by their mass, the largest first; of equal ones the first in the text."""
        return np.argsort(-self.mass, kind="stable")


def merge(forward: Iterable[Evidence], backward: Iterable[Evidence]) -> Pairs:
    """Sum the evidence of both directions for each pair."""
    there, back = map(_directed, forward), map(_directed, backward)
    parts = [*there, *((theirs, mine, mass, lexical) for mine, theirs, mass, lexical in back)]
    a, b, mass, lexical = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    width = int(b.max(initial=0)) + 1
    keys, place = np.unique(a * width + b, return_inverse=True)
    whole, part = (np.bincount(place, values, len(keys)).astype(np.float64) for values in (mass, lexical))
    return Pairs(*np.divmod(keys, width), whole, part)


def _directed(evidence: Evidence) -> tuple[Ints, Ints, Floats, Floats]:
    """The sentences that carry evidence, their partners, the mass and its lexical part."""
    carry = np.flatnonzero((evidence.mass > 0) & (evidence.partner >= 0))
    mass = evidence.mass[carry].astype(np.float64)
    return carry, evidence.partner[carry], mass, mass if evidence.lexical else np.zeros(len(mass))


def alignments(
    pairs: Pairs,
    passages: tuple[Callable[[int], Passage], Callable[[int], Passage]],
    scores: Callable[[Ints, Ints], Floats],
    words: Callable[[int, int], tuple[str, ...]],
    chosen: Ints | None = None,
) -> tuple[Alignment, ...]:
    """The pairs as passages, the strongest first, their contributions summing to 1; or only those chosen."""
    total = float(pairs.mass.sum())
    if not total:
        return ()
    best = pairs.strongest() if chosen is None else chosen
    a, b = pairs.a[best], pairs.b[best]
    columns = (a, b, scores(a, b), pairs.mass[best] / total, pairs.lexical[best] / total)
    return tuple(
        Alignment(passages[0](i), passages[1](j), score, whole, lexical, words(i, j))
        for i, j, score, whole, lexical in zip(*(column.tolist() for column in columns), strict=True)
    )


def readable_pairs(pairs: Pairs, shown: tuple[Callable[[int], str], Callable[[int], str]], most: int) -> Ints:
    """The places of the strongest pairs that read well by themselves; `shown` gives the text of a sentence."""

    def texts(place: int) -> Iterator[str]:
        yield shown[0](int(pairs.a[place]))
        yield shown[1](int(pairs.b[place]))

    return np.array(choose(pairs.strongest().tolist(), most, texts), dtype=np.int64)
