"""Scores of pairs, from batches of rows of similar length, so that little is spent on padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from longmatch.lab.baselines.cross.batch import CrossBatch, PairLayout
from longmatch.lab.baselines.cross.config import ViewPooling
from longmatch.lab.baselines.cross.encoder import CrossModel, CrossOutput
from longmatch.lab.baselines.cross.selection import Selection
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.matchers import match_probability
from longmatch.units.tokens import Ints


def layout_for(model: CrossModel, selection: Selection, specials: tuple[int, int]) -> PairLayout:
    """How pairs are laid out for a model."""
    return PairLayout(selection, model.side_limit, specials, int(model.config.seed))


def read(model: CrossModel, batch: CrossBatch) -> CrossOutput:
    """The vectors and logits of a batch's rows, in order; of its pairs if their views are joined."""
    vectors = batch.text.encode_each(lambda ids, mask, rows: model.pooled(ids, mask, batch.types(rows, mask)))
    if batch.joined_views > 1:
        views = vectors.reshape(-1, batch.joined_views, vectors.shape[1])
        vectors = (model.view_weights(views) * views).sum(1)
    return CrossOutput(logits=model.classify(vectors), vectors=vectors)


@torch.no_grad()
def margins(model: CrossModel, batch: CrossBatch) -> Tensor:
    """The logit of a match minus that of a non-match: (rows or pairs,), on the CPU."""
    logits = read(model, batch.to(model.device)).logits.double().cpu()
    return logits[:, 1] - logits[:, 0]


def uses_max(pool: ViewPooling, for_ranking: bool = False) -> bool:
    """Whether the highest view decides rather than the mean of all."""
    return pool == "max" or (pool == "by-task" and not for_ranking)


def pool_views(margins: Tensor, pool: ViewPooling, for_ranking: bool = False) -> Tensor:
    """Combine the views of each pair: (pairs, views) -> (pairs,), SST equations 11 and 12."""
    return margins.amax(1) if uses_max(pool, for_ranking) else margins.mean(1)


def match_probabilities(margins: Tensor, pool: ViewPooling, for_ranking: bool = False) -> Tensor:
    """The probability of a match, from the margins of a pair's views: (pairs, views) -> (pairs,)."""
    return match_probability(pool_views(margins, pool, for_ranking))


@dataclass(frozen=True)
class PairReader:
    """A trained network, the layout of pairs, and the precision of the computation."""

    model: CrossModel
    layout: PairLayout
    precision: Precision = "float32"

    def margins(self, rows: Sequence[tuple[Ints, Ints]], joined_views: int = 1) -> Tensor:
        """The margins of rows of token ids: (rows,), on the CPU; of pairs if `joined_views` rows form one."""
        with self._autocast():
            return margins(self.model, CrossBatch.of(rows, self.layout.specials, joined_views))

    @torch.no_grad()
    def view_weights(self, rows: Sequence[tuple[Ints, Ints]]) -> Tensor:
        """The weights of rows that are the views of one pair: (rows,), on the CPU; they sum to 1."""
        with self._autocast():
            views = read(self.model, CrossBatch.of(rows, self.layout.specials).to(self.model.device)).vectors
            return self.model.view_weights(views[None])[0].mean(1).double().cpu()

    @torch.no_grad()
    def states(self, row: tuple[Ints, Ints]) -> tuple[Tensor, Tensor]:
        """The state of each token of either side, without special tokens: (tokens, width), on the CPU."""
        batch = CrossBatch.of([row], self.layout.specials)
        ids = batch.text.ids[None].to(self.model.device)
        mask = torch.ones_like(ids, dtype=torch.bool)
        with self._autocast():
            states = self.model.states(ids, mask, batch.types(torch.tensor([0]), mask))[0].float().cpu()
        return states[1 : len(row[0]) + 1], states[len(row[0]) + 2 : -1]

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.model.device.type, torch.bfloat16, enabled=self.precision == "bfloat16")
