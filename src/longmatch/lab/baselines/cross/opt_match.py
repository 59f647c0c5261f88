"""OPT-Match: the cross-encoder over the sentences that a partial optimal transport selects.

W. Yu, L. Pang, J. Xu, B. Su, Z. Dong, J.-R. Wen: "Optimal Partial Transport Based Sentence Selection for Long-form
Document Matching", COLING 2022.

Every sentence has mass 1, and only a part of the total mass is transported, so that documents may differ in length: the
plan P minimises sum(P * cost) with row and column sums of at most 1 and a total of `mass`. The sentences in the plan
are selected. For an integer mass there is an optimal plan of whole sentences: the cheapest set of `mass` pairs, which
an assignment of the shorter document's sentences with dummy columns finds exactly. The paper learns sentence
representations jointly with the matching; here the similarity of sentences is that of the words they share, and
nothing is learnt. The selection is the same in every view.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from longmatch.lab.baselines.cross.encoder import CrossConfig, CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.selection import FixedSelection, SelectedSentences
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.training.settings import positive_share
from longmatch.lab.words import Floats, WordMatrixCache, word_matrices
from longmatch.units.tokens import Ints, Tokens


def partial_transport(cost: Floats, mass: int) -> Ints:
    """The `mass` disjoint pairs of sentences (a, b) of minimal total cost, cheapest first: (mass, 2).

    >>> partial_transport(np.array([[0.1, 0.2], [0.3, 0.9], [0.9, 0.8]]), mass=2).tolist()
    [[0, 1], [1, 0]]
    """
    transposed = len(cost) > len(cost.T)
    short = cost.T if transposed else cost
    rows, columns = short.shape
    mass = min(mass, rows)
    wide = np.full((rows, columns + rows - mass), cost.min(initial=0.0) - 1)  # dummy columns take the unmatched rows
    wide[:, :columns] = short
    assigned = np.stack(linear_sum_assignment(wide), axis=1)
    pairs = assigned[assigned[:, 1] < columns][:, :: -1 if transposed else 1]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], cost[pairs[:, 0], pairs[:, 1]]))
    return np.asarray(pairs[order], dtype=np.int64)


def transported_sentences(
    cost: Floats, lengths: tuple[Ints, Ints], limit: int, share: float = 0.5
) -> tuple[Ints, Ints]:
    """The sentences of each document in the optimal plan, as many as fit into `limit` tokens per side.

    `share` of the shorter document is transported. Pairs are taken by cost until one does not fit; at least one is
    taken. Sentence numbers are in reading order.
    """
    mass = max(1, round(share * min(cost.shape)))
    pairs = partial_transport(cost, mass)
    tokens = np.stack([lengths[0][pairs[:, 0]], lengths[1][pairs[:, 1]]], axis=1).cumsum(0)  # (pairs, sides)
    fitting = max(1, int((tokens <= limit).all(1).sum()))
    return np.sort(pairs[:fitting, 0]), np.sort(pairs[:fitting, 1])


@dataclass(frozen=True)
class TransportSelection(FixedSelection):
    """OPT-Match's: the sentences matched by a minimum-cost transport of a share of the shorter document."""

    matrices: WordMatrixCache
    share: float = 0.5

    def select(self, a: Tokens, b: Tokens, limit: int) -> SelectedSentences:
        """The sentences of the cheapest pairs; the cost is 0 for the same words and 1 for no common word."""
        first, second = self.matrices(a), self.matrices(b)
        roots = []  # of each sentence's similarity to itself; 1 for a sentence without words
        for side in (first, second):
            root = np.sqrt(side.distinct / (2 * side.log_lengths))
            roots.append(np.where(root > 0, root, 1.0))
        similarity = first.shared(second).toarray() / np.outer(*roots)
        cost = 1 - similarity.round(9)  # so that rounding errors do not break ties
        lengths = np.diff(a.sentence_offsets), np.diff(b.sentence_offsets)
        return SelectedSentences(*transported_sentences(cost, lengths, limit, self.share))


class TransportConfig(CrossConfig):
    """`share`: the share of the shorter document's sentences that is transported."""

    model_type = "longmatch-opt-match"
    share: float = 0.5


class TransportModel(CrossModel):
    """The cross-encoder with OPT-Match's configuration."""

    config_class = TransportConfig  # type: ignore[assignment]

    def selection(self, tokenizer: Any) -> TransportSelection:
        """The sentences transported between the documents."""
        return TransportSelection(word_matrices(tokenizer), self.config.share)


class TransportMatcher(CrossMatcher):
    """The probability that two documents match, from the sentences transported between them."""

    name = "opt-match"
    Model: ClassVar[type[CrossModel]] = TransportModel


@dataclass(frozen=True)
class TransportSettings(CrossSettings):
    """OPT-Match's settings, in addition to the cross-encoder's."""

    share: float = 0.5  # of the shorter document's sentences that is transported

    def __post_init__(self) -> None:
        super().__post_init__()
        positive_share(self, "share")


class TransportRecipe(CrossRecipe):
    """Sentences are selected by partial optimal transport."""

    name: ClassVar[str] = "opt-match"
    Settings: ClassVar[type] = TransportSettings
    Model: ClassVar[type[CrossModel]] = TransportModel
