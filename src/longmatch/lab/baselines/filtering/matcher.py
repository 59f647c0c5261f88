"""Match-Ignition and OPT-Match as trained models: the cross-encoder, which reads the sentences that each selects.

L. Pang, Y. Lan, X. Cheng: "Match-Ignition: Plugging PageRank into Transformer for Long-form Text Matching", CIKM 2021.
W. Yu, L. Pang, J. Xu, B. Su, Z. Dong, J.-R. Wen: "Optimal Partial Transport Based Sentence Selection for Long-form
Document Matching", COLING 2022.

Sentences are as alike as the words they share make them. What is selected is the same in every view. Match-Ignition
filters words as well, in the layers that read them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.baselines.cross.config import CrossConfig
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.selection import Chosen, Selection
from longmatch.lab.baselines.filtering.pagerank import central_sentences, joint_pagerank
from longmatch.lab.baselines.filtering.transport import carried_sentences
from longmatch.lab.baselines.filtering.word_filter import Reached, check, layer_by_layer, special_places
from longmatch.lab.words.matrix import Matrices, WordMatrix
from longmatch.lab.words.similarity import Floats
from longmatch.lab.words.token_words import TokenWords
from longmatch.units.tokens import Ints, Tokens


@dataclass(frozen=True)
class CentralSentences(Selection):
    """Match-Ignition's: of either document, those most central in the graph of the sentences of both."""

    matrices: Matrices
    most: int | None = None  # of a document; None: as many as fit

    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[Chosen]:
        """The sentences of the highest PageRank."""
        first, second = self.matrices(a), self.matrices(b)
        ranks = joint_pagerank((first.within, second.within), first.shared(second))
        return [Chosen(*central_sentences(ranks, (_lengths(a), _lengths(b)), limit, self.most))] * len(views)


@dataclass(frozen=True)
class CarriedSentences(Selection):
    """OPT-Match's: those between which a share of the shorter document is carried over at the least cost."""

    matrices: Matrices
    share: float = 0.5

    def choose(self, a: Tokens, b: Tokens, limit: int, views: Sequence[int], seed: int) -> list[Chosen]:
        """The sentences of the pairs that cost least: sentences of the same words cost 0, of no common word 1."""
        first, second = self.matrices(a), self.matrices(b)
        alike = first.shared(second).toarray() / np.outer(_own(first), _own(second))
        cost = 1 - alike.round(9)  # what rounding alone tells apart costs the same
        return [Chosen(*carried_sentences(cost, (_lengths(a), _lengths(b)), limit, self.share))] * len(views)


class IgnitionConfig(CrossConfig):
    """How much is read, and how much of that goes on through the layers.

    - `max_sentences`: read of each document; None: as many as fit;
    - `word_filter`: whether each layer drops its least central words, all but the share `words_kept`. A model that was
      trained says so; without a word of it, it was trained without.
    """

    model_type = "longmatch-match-ignition"

    def __init__(
        self, max_sentences: int | None = None, word_filter: bool = False, words_kept: float = 0.9, **others: Any
    ) -> None:
        self.max_sentences, self.word_filter, self.words_kept = max_sentences, word_filter, words_kept
        super().__init__(**others)


class IgnitionModel(CrossModel):
    """The cross-encoder, whose layers hand on the words most central to what they attend to; special tokens stay."""

    config_class = IgnitionConfig  # type: ignore[assignment]

    def __init__(self, config: IgnitionConfig) -> None:
        super().__init__(config)
        if config.word_filter:
            check(self.backbone)

    def reached(self, ids: Tensor, mask: Tensor, types: Tensor) -> Iterator[Reached]:
        """The words before the first layer and after each."""
        fixed = special_places(mask, types)
        return layer_by_layer(self.backbone, self._inputs(ids, mask, types), fixed, float(self.config.words_kept))

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """What the backbone makes of each token, the mean over the layers it reaches: (pairs, tokens, width)."""
        if not self.config.word_filter:
            return super().states(ids, mask, types)
        total = torch.zeros(*ids.shape, self.width, device=ids.device)
        times = torch.zeros(*ids.shape, 1, device=ids.device)
        for now in self.reached(ids, mask, types):
            real = now.real[..., None].float()
            total.scatter_add_(1, now.places[..., None].expand(-1, -1, self.width), now.hidden.float() * real)
            times.scatter_add_(1, now.places[..., None], real)
        return total / times.clamp(min=1)

    def _last(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        if not self.config.word_filter:
            return super()._last(ids, mask, types)
        *_, last = self.reached(ids, mask, types)
        return last.hidden


class IgnitionMatcher(CrossMatcher):
    """The chance that two documents belong together, from the sentences that are central to both."""

    name = "match-ignition"
    Model: ClassVar[type[CrossModel]] = IgnitionModel

    def selection(self) -> CentralSentences:
        """By PageRank."""
        return central(self.tokenizer, self.model.config)


class TransportConfig(CrossConfig):
    """`share`: of the shorter document's sentences, how many are carried over."""

    model_type = "longmatch-opt-match"

    def __init__(self, share: float = 0.5, **others: Any) -> None:
        self.share = share
        super().__init__(**others)


class TransportModel(CrossModel):
    """The cross-encoder, with OPT-Match's settings."""

    config_class = TransportConfig  # type: ignore[assignment]


class TransportMatcher(CrossMatcher):
    """The chance that two documents belong together, from the sentences that are carried over between them."""

    name = "opt-match"
    Model: ClassVar[type[CrossModel]] = TransportModel

    def selection(self) -> CarriedSentences:
        """By partial optimal transport."""
        return carried(self.tokenizer, self.model.config)


def central(tokenizer: Any, config: Any) -> CentralSentences:
    """Match-Ignition's selection for a model's tokens and settings."""
    return CentralSentences(_matrices(tokenizer), config.max_sentences)


def carried(tokenizer: Any, config: Any) -> CarriedSentences:
    """OPT-Match's selection for a model's tokens and settings."""
    return CarriedSentences(_matrices(tokenizer), config.share)


def _matrices(tokenizer: Any) -> Matrices:
    return Matrices(TokenWords.of(tokenizer.backend_tokenizer).words)


def _own(matrix: WordMatrix) -> Floats:
    """The root of how alike each sentence is to itself; 1 for one without words, which is like no other."""
    found = np.sqrt(matrix.distinct / (2 * matrix.logs))
    return np.where(found > 0, found, 1.0)


def _lengths(tokens: Tokens) -> Ints:
    return np.diff(tokens.sentence_offsets)
