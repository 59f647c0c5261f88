"""SST's network (appendix B.1): a cross-encoder, or a dual encoder over the two sides of the same rows."""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from longmatch.lab.baselines.cross.encoder import CrossConfig, CrossModel
from longmatch.lab.encoders.engine import max_positions
from longmatch.lab.encoders.flat import mean_pool
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE
from longmatch.lab.papers.sst.selection import DirectClustering, SubtopicViews
from longmatch.lab.papers.sst.views import SamplingMethod
from longmatch.lab.words import TokenWords

HeadKind = Literal["cross", "dual"]
ClusteringKind = Literal["direct", "adaptive"]


class SstConfig(CrossConfig):
    """How views are sampled, in addition to the cross-encoder's settings.

    - `clustering`: direct, by shared words; or adaptive, by the cluster network in the model's folder;
    - `cluster_size`: expected sentences per subtopic (6 in the paper);
    - `max_sentences`: views are drawn from this many sentences at the beginning of each document; None: from all;
    - `sampling`: how a view is drawn from the subtopics;
    - `head`: both views are read together (cross) or separately (dual); `loss_temperature` is for the latter;
    - `attention`: combine the vectors of all `views` by attention, in training too, instead of pooling their scores.
    """

    model_type = "longmatch-sst"
    clustering: ClusteringKind = "direct"
    cluster_size: float = EXPECTED_SIZE
    max_sentences: int | None = 40
    sampling: SamplingMethod = "soft"
    views: int = 3
    head: HeadKind = "cross"
    loss_temperature: float = 0.05
    attention: bool = False


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
