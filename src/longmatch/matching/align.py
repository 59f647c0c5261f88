"""Aligned passages and the share of the score each carries."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.matching.match import Alignment
from longmatch.matching.presentable import choose
from longmatch.matching.sentences import Sentences

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

NO_ROWS: Ints = np.zeros(0, dtype=np.int64)
ONE_IN = 3  # passages shown, as far as there are any, says the same in other words


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
    strength: Floats  # how much each says about the two documents: 0 for nothing that is worth showing
    paraphrase: Flags  # whether the two say the same in other words

    def strongest(self) -> Ints:
        """The places of the pairs, first those that say most; of equal ones the first in the text.

        One in `ONE_IN` is a paraphrase as long as there are any. Pairs that say nothing come last, by their mass.
        """
        ranked = np.lexsort((-self.mass, -self.strength))
        other, silent = self.paraphrase[ranked], self.strength[ranked] <= 0
        place = np.where(other, ONE_IN * np.cumsum(other), np.cumsum(~other) * ONE_IN / (ONE_IN - 1))
        return ranked[np.lexsort((other, place, silent))]

    @property
    def evidence(self) -> Ints:
        """The places of the pairs that say something, in the same order."""
        order = self.strongest()
        return order[self.strength[order] > 0]


def merge(
    forward: Iterable[Evidence], backward: Iterable[Evidence], *, also: tuple[Ints, Ints] = (NO_ROWS, NO_ROWS)
) -> Pairs:
    """Sum the evidence of both directions for each pair; `also` are pairs to list though they may carry none."""
    parts = [(*also, np.zeros(len(also[0])), np.zeros(len(also[0])))]
    for evidences, is_forward in ((forward, True), (backward, False)):
        for evidence in evidences:
            mine = np.flatnonzero((evidence.mass > 0) & (evidence.partner >= 0))
            theirs, mass = evidence.partner[mine], evidence.mass[mine].astype(np.float64)
            lexical = mass if evidence.lexical else np.zeros(len(mass))
            parts.append((mine, theirs, mass, lexical) if is_forward else (theirs, mine, mass, lexical))
    a, b, mass, lexical = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    width = int(b.max(initial=0)) + 1
    keys, place = np.unique(a * width + b, return_inverse=True)
    whole, part = (np.bincount(place, values, len(keys)).astype(np.float64) for values in (mass, lexical))
    return Pairs(*np.divmod(keys, width), whole, part, whole, np.zeros(len(keys), dtype=bool))


def alignments(
    pairs: Pairs,
    sentences: tuple[Sentences, Sentences],
    scores: Callable[[Ints, Ints], Floats],
    words: Callable[[Ints], Sequence[tuple[str, ...]]] | None = None,
    chosen: Ints | None = None,
) -> tuple[Alignment, ...]:
    """The pairs as passages, the strongest first, their contributions summing to 1; or only those chosen.

    `scores` says how alike two sentences are, `words` which words the pairs at some places share.
    """
    total = float(pairs.mass.sum()) or 1.0
    best = pairs.strongest() if chosen is None else chosen
    i, j = pairs.a[best], pairs.b[best]
    passages = [side.passages(rows) for side, rows in zip(sentences, (i, j), strict=True)]
    shares = pairs.mass[best] / total, pairs.lexical[best] / total
    columns = (scores(i, j), *shares, pairs.strength[best] > 0, pairs.paraphrase[best])
    shared = [()] * len(best) if words is None else words(best)
    return tuple(
        Alignment(a, b, score, whole, lexical, common, evidence, paraphrase)
        for a, b, common, score, whole, lexical, evidence, paraphrase in zip(
            *passages, shared, *(x.tolist() for x in columns), strict=True
        )
    )


def readable_pairs(pairs: Pairs, shown: tuple[Callable[[int], str], Callable[[int], str]], most: int) -> Ints:
    """The places of the strongest pairs that read well by themselves; `shown` gives the text of a sentence."""

    def texts(place: int) -> Iterator[str]:
        yield shown[0](int(pairs.a[place]))
        yield shown[1](int(pairs.b[place]))

    return np.array(choose(pairs.evidence.tolist(), most, texts), dtype=np.int64)
