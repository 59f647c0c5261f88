"""Match-Ignition and OPT-Match: the cross-encoder over the sentences that each selects.

L. Pang, Y. Lan, X. Cheng: "Match-Ignition: Plugging PageRank into Transformer for Long-form Text Matching", CIKM 2021.
W. Yu, L. Pang, J. Xu, B. Su, Z. Dong, J.-R. Wen: "Optimal Partial Transport Based Sentence Selection for Long-form
Document Matching", COLING 2022.

The similarity of sentences is that of the words they share. The selection is the same in every view. Match-Ignition
also filters words, between the layers of the network.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.baselines.cross.config import CrossConfig
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.selection import FixedSelection, SelectedSentences
from longmatch.lab.baselines.filtering.pagerank import central_sentences, joint_pagerank
from longmatch.lab.baselines.filtering.transport import transported_sentences
from longmatch.lab.baselines.filtering.word_filter import LayerWords, check_backbone, filtered_layers, special_places
from longmatch.lab.words.matrix import WordMatrix, WordMatrixCache
from longmatch.lab.words.similarity import Floats
from longmatch.lab.words.token_words import TokenWords
from longmatch.units.tokens import Ints, Tokens


@dataclass(frozen=True)
class PageRankSelection(FixedSelection):
    """Match-Ignition's: the most central sentences in the graph of both documents' sentences."""

    matrices: WordMatrixCache
    most: int | None = None  # sentences per document; None: as many as fit

    def select(self, a: Tokens, b: Tokens, limit: int) -> SelectedSentences:
        """The sentences with the highest PageRank."""
        first, second = self.matrices(a), self.matrices(b)
        ranks = joint_pagerank((first.within, second.within), first.shared(second))
        return SelectedSentences(*central_sentences(ranks, (_lengths(a), _lengths(b)), limit, self.most))


@dataclass(frozen=True)
class TransportSelection(FixedSelection):
    """OPT-Match's: the sentences matched by a minimum-cost transport of a share of the shorter document."""

    matrices: WordMatrixCache
    share: float = 0.5

    def select(self, a: Tokens, b: Tokens, limit: int) -> SelectedSentences:
        """The sentences of the cheapest pairs; the cost is 0 for the same words and 1 for no common word."""
        first, second = self.matrices(a), self.matrices(b)
        norms = np.outer(_self_similarity_root(first), _self_similarity_root(second))
        similarity = first.shared(second).toarray() / norms
        cost = 1 - similarity.round(9)  # so that rounding errors do not break ties
        return SelectedSentences(*transported_sentences(cost, (_lengths(a), _lengths(b)), limit, self.share))


class IgnitionConfig(CrossConfig):
    """How many sentences are read, and which share of their words each layer keeps.

    - `max_sentences`: per document; None: as many as fit;
    - `word_filter`: whether each layer drops its least central words, keeping the share `words_kept`. Off by default,
      for models saved before this setting existed.
    """

    model_type = "longmatch-match-ignition"

    def __init__(
        self, max_sentences: int | None = None, word_filter: bool = False, words_kept: float = 0.9, **others: Any
    ) -> None:
        self.max_sentences, self.word_filter, self.words_kept = max_sentences, word_filter, words_kept
        super().__init__(**others)


class IgnitionModel(CrossModel):
    """The cross-encoder with layers that pass on only the most central words and the special tokens."""

    config_class = IgnitionConfig  # type: ignore[assignment]

    def __init__(self, config: IgnitionConfig) -> None:
        super().__init__(config)
        if config.word_filter:
            check_backbone(self.backbone)

    def layer_words(self, ids: Tensor, mask: Tensor, types: Tensor) -> Iterator[LayerWords]:
        """The remaining words before the first layer and after each."""
        fixed = special_places(mask, types)
        return filtered_layers(self.backbone, self._inputs(ids, mask, types), fixed, float(self.config.words_kept))

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """The state of each token, averaged over the layers it reaches: (pairs, tokens, width)."""
        if not self.config.word_filter:
            return super().states(ids, mask, types)
        total = torch.zeros(*ids.shape, self.width, device=ids.device)
        times = torch.zeros(*ids.shape, 1, device=ids.device)
        for now in self.layer_words(ids, mask, types):
            real = now.real[..., None].float()
            total.scatter_add_(1, now.places[..., None].expand(-1, -1, self.width), now.hidden.float() * real)
            times.scatter_add_(1, now.places[..., None], real)
        return total / times.clamp(min=1)

    def _last(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        if not self.config.word_filter:
            return super()._last(ids, mask, types)
        *_, last = self.layer_words(ids, mask, types)
        return last.hidden


class IgnitionMatcher(CrossMatcher):
    """The probability that two documents match, from the sentences that are central to both."""

    name = "match-ignition"
    Model: ClassVar[type[CrossModel]] = IgnitionModel

    def selection(self) -> PageRankSelection:
        """Selection by PageRank."""
        return pagerank_selection(self.tokenizer, self.model.config)


class TransportConfig(CrossConfig):
    """`share`: the share of the shorter document's sentences that is transported."""

    model_type = "longmatch-opt-match"

    def __init__(self, share: float = 0.5, **others: Any) -> None:
        self.share = share
        super().__init__(**others)


class TransportModel(CrossModel):
    """The cross-encoder with OPT-Match's configuration."""

    config_class = TransportConfig  # type: ignore[assignment]


class TransportMatcher(CrossMatcher):
    """The probability that two documents match, from the sentences transported between them."""

    name = "opt-match"
    Model: ClassVar[type[CrossModel]] = TransportModel

    def selection(self) -> TransportSelection:
        """Selection by partial optimal transport."""
        return transport_selection(self.tokenizer, self.model.config)


def pagerank_selection(tokenizer: Any, config: Any) -> PageRankSelection:
    """Match-Ignition's selection for a model's tokenizer and config."""
    return PageRankSelection(_matrices(tokenizer), config.max_sentences)


def transport_selection(tokenizer: Any, config: Any) -> TransportSelection:
    """OPT-Match's selection for a model's tokenizer and config."""
    return TransportSelection(_matrices(tokenizer), config.share)


def _matrices(tokenizer: Any) -> WordMatrixCache:
    return WordMatrixCache(TokenWords.of(tokenizer.backend_tokenizer).words)


def _self_similarity_root(matrix: WordMatrix) -> Floats:
    """The root of each sentence's similarity to itself; 1 for a sentence without words."""
    roots = np.sqrt(matrix.distinct / (2 * matrix.log_lengths))
    return np.where(roots > 0, roots, 1.0)


def _lengths(tokens: Tokens) -> Ints:
    return np.diff(tokens.sentence_offsets)
