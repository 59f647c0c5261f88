"""Match-Ignition and OPT-Match: the cross-encoder over sentences that are central to both documents, or transported.

L. Pang, Y. Lan, X. Cheng: "Match-Ignition: Plugging PageRank into Transformer for Long-form Text Matching", CIKM 2021.
Sentences: those of both documents form one graph, weighted by the words they share (TextRank's similarity); the
sentences with the highest PageRank are read, the same in every view. Words: in every layer of the transformer, the
attention, averaged over the heads, is a graph over the words, and the share with the lowest PageRank is dropped, in all
rows of a batch at once.

W. Yu, L. Pang, J. Xu, B. Su, Z. Dong, J.-R. Wen: "Optimal Partial Transport Based Sentence Selection for Long-form
Document Matching", COLING 2022. Every sentence has mass 1, and only a part of the total mass is transported, so that
documents may differ in length: the plan P minimises sum(P * cost) with row and column sums of at most 1 and a total of
`mass`. The sentences in the plan are selected. For an integer mass there is an optimal plan of whole sentences: the
cheapest set of `mass` pairs, which an assignment of the shorter document's sentences with dummy columns finds exactly.
The paper learns sentence representations jointly with the matching; here the similarity of sentences is that of the
words they share, and nothing is learnt. The selection is the same in every view.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from torch import Tensor

from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.encoder import CrossConfig, CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.selection import FixedSelection, SelectedSentences
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.training.settings import at_least, positive_share
from longmatch.lab.words import Floats, WordMatrixCache, word_matrices
from longmatch.units.tokens import Ints, Tokens

DAMPING = 0.85
UNSEEN = -65504.0  # attention bias of padding: the lowest number of the smallest precision
STEPS = 50  # of PageRank: attention graphs are dense, so it converges long before
DECIMALS = 5  # of a rank relative to the mean rank: smaller differences are ties


def joint_pagerank(
    within: tuple[csr_array, csr_array], between: csr_array, tolerance: float = 1e-10, steps: int = 200
) -> tuple[Floats, Floats]:
    """PageRank of an undirected graph in two parts: the ranks of each part, which sum to 1 together.

    The walk follows edges in proportion to their weights, and jumps to a random node with probability 1 - DAMPING or
    from a node without edges. `within` holds the weights inside each part, without self-loops, and `between` those from
    the first part's nodes to the second's. The matrices are sparse.
    """
    (first, second), back = within, between.T.tocsr()
    total = np.concatenate([first.sum(1) + between.sum(1), second.sum(1) + back.sum(1)])
    count, middle = len(total), first.shape[0]
    scale = np.divide(DAMPING, total, out=np.zeros(count), where=total > 0)
    dangling = total <= 0
    ranks: Floats = np.full(count, 1 / max(1, count))
    for _ in range(steps):
        a, b = np.split(ranks * scale, [middle])
        updated: Floats = np.concatenate([first @ a + between @ b, back @ a + second @ b])
        updated += (DAMPING * ranks[dangling].sum() + 1 - DAMPING) / max(1, count)
        change, ranks = np.abs(updated - ranks).sum(), updated
        if change < tolerance:
            break
    return ranks[:middle], ranks[middle:]


def best_within(values: Floats, lengths: Ints, limit: int, most: int | None = None) -> Ints:
    """The sentences with the highest values, until the next one does not fit; at least one; in ascending order.

    Ties go to the earlier sentence.

    >>> best_within(np.array([0.1, 0.4, 0.2, 0.3]), np.array([5, 5, 5, 5]), limit=12).tolist()
    [1, 3]
    """
    order = np.argsort(-values.round(9), kind="stable")[:most]
    fitting = int((lengths[order].cumsum() <= limit).sum())
    return np.sort(order[: max(1, fitting)]).astype(np.int64)


@dataclass(frozen=True)
class LayerWords:
    """The words that remain after some layer, in reading order."""

    hidden: Tensor  # (rows, words, width)
    places: Tensor  # (rows, words) original positions
    real: Tensor  # (rows, words) false for padding
    fixed: Tensor  # (rows, words) words that are never dropped

    def keep_most_central(self, ranks: Tensor, kept: float) -> "LayerWords":
        """The fixed words and the most central share `kept` of the others; ties go to the earlier word."""
        words = self.real.shape[1]
        free = self.real & ~self.fixed
        counts = self.fixed.sum(1) + (kept * free.sum(1) - 1e-6).ceil().long()
        rank = ranks.masked_fill(self.fixed, torch.inf).masked_fill(~self.real, -torch.inf)
        order = rank.argsort(dim=1, descending=True, stable=True)[:, : int(counts.max())]
        stays = torch.arange(order.shape[1], device=order.device) < counts[:, None]
        chosen = torch.where(stays, order, words).sort(dim=1).values.clamp(max=words - 1)  # padding comes last
        hidden = self.hidden.gather(1, chosen[..., None].expand(-1, -1, self.hidden.shape[2]))
        return LayerWords(hidden, self.places.gather(1, chosen), stays, self.fixed.gather(1, chosen) & stays)


@torch.no_grad()
def attention(module: Any, hidden: Tensor, real: Tensor) -> Tensor:
    """The attention weights, averaged over the heads: (rows, words, words); padding gets none."""
    heads = int(module.num_attention_heads)
    queries, keys = (part(hidden).float().unflatten(2, (heads, -1)).unbind(2) for part in (module.query, module.key))
    total = hidden.new_zeros((*real.shape, real.shape[1]), dtype=torch.float32)
    with torch.autocast(hidden.device.type, enabled=False):
        for query, key in zip(queries, keys, strict=True):  # one head at a time, to save memory
            scores = query @ key.transpose(1, 2) / query.shape[2] ** 0.5
            total += scores.masked_fill(~real[:, None], -torch.inf).softmax(2)
    return total / heads


@torch.no_grad()
def word_ranks(weights: Tensor, real: Tensor) -> Tensor:
    """PageRank of each row's words, relative to the mean: (rows, words, words) -> (rows, words), 0 for padding.

    Self-attention is ignored. From a word that attends to no other, the walk jumps to a random one.
    """
    with torch.autocast(weights.device.type, enabled=False):
        counts = real.sum(1, keepdim=True).clamp(min=1)  # (rows, 1)
        diagonal = torch.eye(real.shape[1], dtype=torch.bool, device=real.device)
        edges = weights.float().masked_fill(diagonal | ~real[:, None] | ~real[..., None], 0.0)
        total = edges.sum(2, keepdim=True)
        uniform = real[:, None] / counts[..., None]
        edges = torch.where(total > 0, edges / total.clamp(min=torch.finfo(edges.dtype).tiny), uniform)
        ranks = real.float()
        for _ in range(STEPS):
            ranks = (DAMPING * (ranks[:, None] @ edges)[:, 0] + 1 - DAMPING) * real
        return ranks.round(decimals=DECIMALS)


def special_places(mask: Tensor, types: Tensor) -> Tensor:
    """Mask of the special tokens in rows [CLS] a [SEP] b [SEP]: (rows, tokens).

    >>> special_places(torch.ones(1, 6).bool(), torch.tensor([[0, 0, 0, 1, 1, 1]])).int().tolist()
    [[1, 0, 1, 0, 0, 1]]
    """
    steps = torch.arange(mask.shape[1], device=mask.device)
    start = (mask & ~types.bool()).sum(1, keepdim=True)  # of b
    return (steps == 0) | (steps == start - 1) | (steps == mask.sum(1, keepdim=True) - 1)


@dataclass(frozen=True)
class PageRankSelection(FixedSelection):
    """Match-Ignition's: the most central sentences in the graph of both documents' sentences."""

    matrices: WordMatrixCache
    most: int | None = None  # sentences per document; None: as many as fit

    def select(self, a: Tokens, b: Tokens, limit: int) -> SelectedSentences:
        """The sentences with the highest PageRank."""
        first, second = self.matrices(a), self.matrices(b)
        ranks = joint_pagerank((first.within, second.within), first.shared(second))
        sides = zip(ranks, (a, b), strict=True)
        return SelectedSentences(*(best_within(of, np.diff(t.sentence_offsets), limit, self.most) for of, t in sides))


class IgnitionConfig(CrossConfig):
    """How many sentences are read, and which share of their words each layer keeps."""

    model_type = "longmatch-match-ignition"
    max_sentences: int | None = None  # per document; None: as many as fit
    word_filter: bool = False  # whether layers drop their least central words; off for models saved before it existed
    words_kept: float = 0.9  # the share of the words that a layer keeps


class IgnitionModel(CrossModel):
    """The cross-encoder with layers that pass on only the most central words and the special tokens."""

    config_class = IgnitionConfig  # type: ignore[assignment]

    def __init__(self, config: IgnitionConfig) -> None:
        super().__init__(config)
        if not config.word_filter:
            return
        layers = getattr(getattr(self.backbone, "encoder", None), "layer", None)
        parts = [getattr(getattr(layer, "attention", None), "self", None) for layer in layers or []]
        if not parts or not all(hasattr(part, "query") and hasattr(part, "key") for part in parts):
            raise LongmatchError(
                f"The words of a {type(self.backbone).__name__} cannot be filtered, because its layers are not BERT's. "
                "Add --set word_filter=false, or name another backbone."
            )

    def selection(self, tokenizer: Any) -> PageRankSelection:
        """The most central sentences."""
        return PageRankSelection(word_matrices(tokenizer), self.config.max_sentences)

    def layer_words(self, ids: Tensor, mask: Tensor, types: Tensor) -> Iterator[LayerWords]:
        """The words before the first layer, and those remaining after each; the last layer drops none."""
        inputs = self.inputs(ids, mask, types)
        real = inputs.pop("attention_mask").bool()
        hidden = self.backbone.embeddings(**inputs)
        if hasattr(self.backbone, "embeddings_project"):
            hidden = self.backbone.embeddings_project(hidden)
        places = torch.arange(real.shape[1], device=real.device).expand(real.shape)
        now = LayerWords(hidden, places, real, special_places(mask, types) & real)
        yield now
        for number, layer in enumerate(self.backbone.encoder.layer, start=1):
            bias = torch.zeros_like(now.hidden[..., 0]).masked_fill(~now.real, UNSEEN)[:, None, None]
            output = layer(now.hidden, bias)
            after = replace(now, hidden=output[0] if isinstance(output, tuple) else output)
            if number < len(self.backbone.encoder.layer):
                ranks = word_ranks(attention(layer.attention.self, now.hidden, now.real), now.real)
                after = after.keep_most_central(ranks, float(self.config.words_kept))
            now = after
            yield now

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


@dataclass(frozen=True)
class IgnitionSettings(CrossSettings):
    """Match-Ignition's settings, in addition to the cross-encoder's."""

    sentences: int | None = None  # read per document; by default as many as fit
    word_filter: bool = True  # each layer of the network drops its least central words
    words_kept: float = 0.9  # the share of words that a layer passes on
    in_config: ClassVar[Mapping[str, str]] = {"sentences": "max_sentences"}

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, sentences=1)
        positive_share(self, "words_kept")


class IgnitionRecipe(CrossRecipe):
    """Sentences are selected by PageRank, and their words are filtered layer by layer."""

    name: ClassVar[str] = "match-ignition"
    Settings: ClassVar[type] = IgnitionSettings
    Model: ClassVar[type[CrossModel]] = IgnitionModel


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
