"""SST's network (appendix B.1), and the matcher: it reads views of both documents, sampled from their subtopics.

The network is a cross-encoder, or a dual encoder over the two sides of the same rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
from cachetools import LRUCache
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Vectors
from longmatch.lab.baselines.cross.encoder import CrossConfig, CrossModel
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.engine import max_positions
from longmatch.lab.encoders.flat import mean_pool
from longmatch.lab.matchers import tokens_of
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE
from longmatch.lab.papers.sst.explanation import Subtopics, find_subtopics
from longmatch.lab.papers.sst.network import AdaptiveClustering
from longmatch.lab.papers.sst.selection import DirectClustering, NetworkClustering, SamplingMethod, SubtopicViews
from longmatch.lab.store.tokens import tokenizer_json
from longmatch.lab.words import TokenWords
from longmatch.matching.match import Match
from longmatch.units import Tokens, tokenize

HeadKind = Literal["cross", "dual"]
ClusteringKind = Literal["direct", "adaptive"]
CLUSTERS = "clusters"  # the cluster network's folder within the model's
CACHED_DOCUMENTS = 2048  # whose sentence vectors are kept, as a document occurs in many pairs


class SstConfig(CrossConfig):
    """How views are sampled, in addition to the cross-encoder's settings."""

    model_type = "longmatch-sst"
    clustering: ClusteringKind = "direct"  # by shared words; adaptive: by the cluster network in the model's folder
    cluster_size: float = EXPECTED_SIZE  # expected sentences per subtopic
    max_sentences: int | None = 40  # of each document, from its beginning, that views are drawn from; None: all
    sampling: SamplingMethod = "soft"  # how a view is drawn from the subtopics
    views: int = 3
    head: HeadKind = "cross"  # both views are read together; dual: separately
    loss_temperature: float = 0.05  # of the dual encoder
    attention: bool = False  # combine the vectors of all views by attention, in training too, instead of their scores


class SstModel(CrossModel):
    """Appendix B.1: a cross-encoder for news; for legal cases a dual encoder, trained with InfoNCE.

    The dual encoder's document vector is the mean of the token vectors. Its margin is the cosine of both vectors minus
    0.5, divided by the temperature.

    Table 4's variant "w attention" combines views as SMITH (Yang et al. 2020, section 4.1.4) combines blocks: their sum
    weighted by softmax(h W v); for the dual encoder separately for each document.
    """

    config_class = SstConfig  # type: ignore[assignment]

    def __init__(self, config: SstConfig) -> None:
        super().__init__(config)
        self.is_dual = config.head == "dual"
        if self.is_dual:  # the cross-encoder's head is unused
            self.pooler.requires_grad_(False)
            self.classifier.requires_grad_(False)
        if config.attention:
            self.projection = nn.Linear(self.width, self.width, bias=False)  # W
            self.question = nn.Linear(self.width, 1, bias=False)  # v
            self.post_init()

    def selection(self, tokenizer: Any) -> SubtopicViews:
        """Views sampled by the model's settings, from direct clustering by the words that its tokens form."""
        words, config = TokenWords.of(tokenizer.backend_tokenizer), self.config
        clustering = DirectClustering(words, config.cluster_size, config.max_sentences)
        return SubtopicViews(clustering, config.sampling, config.max_sentences)

    @property
    def side_limit(self) -> int:
        """The most tokens read of each document; in the dual encoder each has all positions of the backbone."""
        positions = max_positions(self.backbone)
        if not self.is_dual or positions is None:
            return super().side_limit
        return min(int(self.config.side_tokens), positions - 2)

    def pooled(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """One vector per pair (pairs, width); for the dual encoder both concatenated: (pairs, 2 x width)."""
        if not self.is_dual:
            return super().pooled(ids, mask, types)
        pieces, real = split_sides(ids, mask, types)
        return torch.cat(mean_pool(self._last(pieces, real, torch.zeros_like(pieces)), real).chunk(2), dim=1)

    def classify(self, vectors: Tensor) -> Tensor:
        """(pairs, width) -> (pairs, 2), in full precision."""
        if not self.is_dual:
            return super().classify(vectors)
        a, b = (normalize(side, dim=1) for side in vectors.float().chunk(2, dim=1))
        margins = ((a * b).sum(1) - 0.5) / self.config.loss_temperature
        return torch.stack([torch.zeros_like(margins), margins], dim=1)

    @property
    def joined_views(self) -> int:
        """All views, if attention combines them."""
        return int(self.config.views) if self.config.attention else 1

    def view_weights(self, views: Tensor) -> Tensor:
        """What each view counts for in its pair's vector: (pairs, views, width) -> (pairs, views, 1 or width)."""
        if not self.config.attention:
            return super().view_weights(views)
        with torch.autocast(views.device.type, enabled=False):
            sides = views.float().chunk(2, dim=2) if self.is_dual else (views.float(),)
            weights = [self.question(self.projection(side)).softmax(1) for side in sides]
            return torch.cat([w.expand_as(side) for w, side in zip(weights, sides, strict=True)], dim=2)

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """What the backbone makes of each token, the mean over its layers: (pairs, tokens, width)."""
        if not self.is_dual:
            return super().states(ids, mask, types)
        pieces, real = split_sides(ids, mask, types)
        states = super().states(pieces, real, torch.zeros_like(pieces))
        original = torch.cat([real[: len(ids)], real[len(ids) :]], dim=1)
        original[:, real.shape[1]] = False  # the start token added to the second document
        rows = torch.cat(states.chunk(2), dim=1)
        whole = rows.new_zeros(*ids.shape, rows.shape[-1])
        whole[mask] = rows[original]
        return whole


def split_sides(ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of [CLS] a [SEP] b [SEP] as rows of [CLS] a [SEP], followed by rows of [CLS] b [SEP]: ids and mask.

    >>> row = torch.tensor([[1, 7, 8, 2, 9, 2]])
    >>> split_sides(row, row > 0, torch.tensor([[0, 0, 0, 0, 1, 1]]))[0].tolist()
    [[1, 7, 8, 2], [1, 9, 2, 0]]
    """
    second = mask & types.bool()
    sizes = [(mask & ~second).sum(1), second.sum(1) + 1]
    longest = int(torch.stack(sizes).max())
    steps = torch.arange(longest, device=ids.device)
    first = pad(ids, (0, max(0, longest - ids.shape[1])))[:, :longest]
    places = (sizes[0][:, None] - 1 + steps).clamp(max=ids.shape[1] - 1)  # from the end token of a
    other = ids.gather(1, places)
    other[:, 0] = ids[:, 0]
    real = torch.cat([steps < size[:, None] for size in sizes])
    return torch.cat([first, other]) * real, real


class SstMatcher(CrossMatcher):
    """The probability that two documents match, from views of their shared and supplementary subtopics.

    The views of a pair depend only on the model's seed and the documents. The model's folder is self-contained.
    """

    name = "sst"
    Model: ClassVar[type[CrossModel]] = SstModel

    def __init__(self, model: SstModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.views = model.selection(tokenizer)
        if model.config.clustering == "adaptive":
            network = AdaptiveClustering.load(Path(str(model.name_or_path)) / CLUSTERS, str(self.device))
            clustering = NetworkClustering(network, _VectorCache(network, tokenizer.backend_tokenizer))
            self.views = replace(self.views, clustering=clustering)
        self.layout = replace(self.layout, selection=self.views)

    @property
    def networks(self) -> Sequence[nn.Module]:
        """The cross-encoder or dual encoder, and the networks that find subtopics."""
        clustering = self.views.clustering
        if not isinstance(clustering, NetworkClustering):
            return super().networks
        return (*super().networks, clustering.network.model, clustering.network.backbone.model)

    @property
    def needs_text(self) -> bool:
        """Whether the cluster network's backbone has another tokenizer."""
        clustering = self.views.clustering
        return isinstance(clustering, NetworkClustering) and bool(getattr(clustering.vectors, "retokenizes", False))

    def compare(self, a: Document, b: Document) -> Match:
        """Compare two documents, explained by the sentences read; a dual encoder's score is not a probability."""
        match = super().compare(a, b)
        return replace(match, probability=None) if self.model.config.head == "dual" else match

    def subtopics(self, a: Document, b: Document) -> Subtopics:
        """The subtopics of two documents, from which the model draws its views."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        return find_subtopics(a, b, self.views.clusters(*pair), self.views.clustering.similarity(*pair))

    @property
    def reads(self) -> str:
        """How much of a long document is read."""
        most = self.model.config.max_sentences
        return super().reads + (f", drawn from its first {most} sentences" if most is not None else "")


class _VectorCache:
    """Caches the sentence vectors of documents.

    Documents are tokenised again if the cluster network's backbone has another tokenizer.
    """

    def __init__(self, network: AdaptiveClustering, tokenizer: Tokenizer) -> None:
        self.network = network
        self.retokenizes = tokenizer_json(tokenizer) != tokenizer_json(network.backbone.tokenizer)
        self._cache: LRUCache[tuple[str, str], Vectors] = LRUCache(CACHED_DOCUMENTS)

    def __call__(self, documents: Sequence[Tokens]) -> list[Vectors]:
        keys = [(tokens.document.id, tokens.document.text) for tokens in documents]
        found = {key: self._cache[key] for key in keys if key in self._cache}
        missing = {key: tokens for key, tokens in zip(keys, documents, strict=True) if key not in found}
        tokenised = list(missing.values())
        if self.retokenizes:
            tokenised = [tokenize(tokens.document, self.network.backbone.tokenizer) for tokens in tokenised]
        found |= zip(missing, self.network.vectors(tokenised), strict=True)
        self._cache.update(found)
        return [found[key] for key in keys]
