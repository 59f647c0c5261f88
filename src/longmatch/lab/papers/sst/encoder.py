"""SST's network: the cross-encoder, or a dual encoder that reads the same rows but either side of them alone."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from longmatch.encoders.flat import mean_pool
from longmatch.encoders.positions import max_positions
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.papers.sst.config import SstConfig


class SstModel(CrossModel):
    """Appendix B.1: a cross-encoder for news; for legal cases a dual encoder, learnt with InfoNCE.

    The dual encoder's vector of a document is the mean of its tokens' vectors. Its margin grows with the cosine of both
    vectors as the loss sees it, in units of the temperature, and is 0 at a cosine of 0.5.

    Table 4's variant "w attention" joins views as SMITH (Yang et al. 2020, section 4.1.4) joins blocks: their sum with
    the weights softmax(h W v); of the dual encoder either document's views on their own.
    """

    config_class = SstConfig  # type: ignore[assignment]

    def __init__(self, config: SstConfig) -> None:
        super().__init__(config)
        self.is_dual = config.head == "dual"
        if self.is_dual:  # the cross-encoder's head stands idle
            self.pooler.requires_grad_(False)
            self.classifier.requires_grad_(False)
        if config.attention:
            self.projection = nn.Linear(self.width, self.width, bias=False)  # W
            self.question = nn.Linear(self.width, 1, bias=False)  # v
            self.post_init()

    @property
    def side_limit(self) -> int:
        """The most tokens read of each document: the dual encoder has all places of the backbone for one."""
        places = max_positions(self.backbone)
        if not self.is_dual or places is None:
            return super().side_limit
        return min(int(self.config.side_tokens), places - 2)

    def pooled(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """One vector a pair (pairs, width); of the dual encoder both documents' side by side: (pairs, 2 x width)."""
        if not self.is_dual:
            return super().pooled(ids, mask, types)
        pieces, real = apart(ids, mask, types)
        hidden = self.backbone(input_ids=pieces, attention_mask=real.long()).last_hidden_state
        return torch.cat(mean_pool(hidden, real).chunk(2), dim=1)

    def classify(self, vectors: Tensor) -> Tensor:
        """(pairs, width) -> (pairs, 2), in full precision."""
        if not self.is_dual:
            return super().classify(vectors)
        a, b = (normalize(side, dim=1) for side in vectors.float().chunk(2, dim=1))
        margins = ((a * b).sum(1) - 0.5) / self.config.loss_temperature
        return torch.stack([torch.zeros_like(margins), margins], dim=1)

    @property
    def joined_views(self) -> int:
        """All that are read, where attention joins them."""
        return int(self.config.views) if self.config.attention else 1

    def view_weights(self, views: Tensor) -> Tensor:
        """What each view counts for in its pair's vector: (pairs, views, width) -> (pairs, views, 1 or width)."""
        if not self.config.attention:
            return super().view_weights(views)
        with torch.autocast(views.device.type, enabled=False):
            sides = views.float().chunk(2, dim=2) if self.is_dual else (views.float(),)
            found = [self.question(self.projection(side)).softmax(1) for side in sides]
            return torch.cat([weights.expand_as(side) for weights, side in zip(found, sides, strict=True)], dim=2)

    def states(self, ids: Tensor, mask: Tensor, types: Tensor) -> Tensor:
        """What the backbone makes of each token, the mean over its layers: (pairs, tokens, width)."""
        if not self.is_dual:
            return super().states(ids, mask, types)
        pieces, real = apart(ids, mask, types)
        found = super().states(pieces, real, torch.zeros_like(pieces))
        own = torch.cat([real[: len(ids)], real[len(ids) :]], dim=1)
        own[:, real.shape[1]] = False  # the start token that the second document was given
        rows = torch.cat(found.chunk(2), dim=1)
        whole = rows.new_zeros(*ids.shape, rows.shape[-1])
        whole[mask] = rows[own]
        return whole


def apart(ids: Tensor, mask: Tensor, types: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of [CLS] a [SEP] b [SEP] as [CLS] a [SEP] and then, for all of them, [CLS] b [SEP]: ids and mask.

    >>> row = torch.tensor([[1, 7, 8, 2, 9, 2]])
    >>> apart(row, row > 0, torch.tensor([[0, 0, 0, 0, 1, 1]]))[0].tolist()
    [[1, 7, 8, 2], [1, 9, 2, 0]]
    """
    second = mask & types.bool()
    sizes = [(mask & ~second).sum(1), second.sum(1) + 1]
    longest = int(torch.stack(sizes).max())
    steps = torch.arange(longest, device=ids.device)
    first = pad(ids, (0, max(0, longest - ids.shape[1])))[:, :longest]
    places = (sizes[0][:, None] - 1 + steps).clamp(max=ids.shape[1] - 1)  # from the end token of a on
    other = ids.gather(1, places)
    other[:, 0] = ids[:, 0]
    real = torch.cat([steps < size[:, None] for size in sizes])
    return torch.cat([first, other]) * real, real
