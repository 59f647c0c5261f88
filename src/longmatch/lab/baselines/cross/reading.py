"""Reading pairs: rows of about one length together, so that little of the work is padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from longmatch.encoders.backbone import Precision
from longmatch.lab.baselines.cross.batch import CrossBatch, Layout
from longmatch.lab.baselines.cross.config import Pool
from longmatch.lab.baselines.cross.encoder import CrossModel, CrossOutput
from longmatch.lab.baselines.cross.selection import Selection
from longmatch.units.tokens import Ints


def layout(model: CrossModel, selection: Selection, specials: tuple[int, int]) -> Layout:
    """How pairs are laid out for a model."""
    return Layout(selection, model.side_limit, specials, int(model.config.seed))


def read(model: CrossModel, batch: CrossBatch) -> CrossOutput:
    """The vectors and logits of a batch's rows, in their order; of pairs, where their views are joined."""
    vectors = batch.text.encode_each(lambda ids, mask, rows: model.pooled(ids, mask, batch.types(rows, mask)))
    if batch.joined > 1:
        views = vectors.reshape(-1, batch.joined, vectors.shape[1])
        vectors = (model.shares(views) * views).sum(1)
    return CrossOutput(logits=model.classify(vectors), vectors=vectors)


@torch.no_grad()
def margins(model: CrossModel, batch: CrossBatch) -> Tensor:
    """By how much the logit of belonging together exceeds the other: (rows or pairs,), on the CPU."""
    logits = read(model, batch.to(model.device)).logits.double().cpu()
    return logits[:, 1] - logits[:, 0]


def takes_largest(how: Pool, for_ranking: bool = False) -> bool:
    """Whether the view that speaks most for the match decides, and not all of them alike."""
    return how == "max" or (how == "by-task" and not for_ranking)


def pool_views(found: Tensor, how: Pool, for_ranking: bool = False) -> Tensor:
    """The views of each pair as one: (pairs, views) -> (pairs,), SST equations 11 and 12."""
    return found.amax(1) if takes_largest(how, for_ranking) else found.mean(1)


def chances(found: Tensor, how: Pool, for_ranking: bool = False) -> Tensor:
    """That two documents belong together, from the margins of their views: (pairs, views) -> (pairs,).

    Margins are rounded to four decimals: what two copies of a document differ by beyond that comes from what else was
    read with them, and must not decide between them.
    """
    return pool_views(found, how, for_ranking).round(decimals=4).sigmoid()


@dataclass(frozen=True)
class Reader:
    """A network that is done with learning, what it reads of a pair, and the precision it computes in."""

    model: CrossModel
    layout: Layout
    precision: Precision = "float32"

    def margins(self, rows: Sequence[tuple[Ints, Ints]], joined: int = 1) -> Tensor:
        """Of rows of token ids: (rows,), on the CPU; of pairs, where so many rows are joined."""
        with self._autocast():
            return margins(self.model, CrossBatch.of(rows, self.layout.specials, joined))

    @torch.no_grad()
    def shares(self, rows: Sequence[tuple[Ints, Ints]]) -> Tensor:
        """What each row, a view of one pair, counts for in it: (rows,), on the CPU; all of them sum to 1."""
        with self._autocast():
            views = read(self.model, CrossBatch.of(rows, self.layout.specials).to(self.model.device)).vectors
            return self.model.shares(views[None])[0].mean(1).double().cpu()

    @torch.no_grad()
    def states(self, row: tuple[Ints, Ints]) -> tuple[Tensor, Tensor]:
        """What the backbone makes of each token of either side, special ones left out: (tokens, width), on the CPU."""
        batch = CrossBatch.of([row], self.layout.specials)
        ids = batch.text.ids[None].to(self.model.device)
        mask = torch.ones_like(ids, dtype=torch.bool)
        with self._autocast():
            found = self.model.states(ids, mask, batch.types(torch.tensor([0]), mask))[0].float().cpu()
        return found[1 : len(row[0]) + 1], found[len(row[0]) + 2 : -1]

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.model.device.type, torch.bfloat16, enabled=self.precision == "bfloat16")
