"""SST with a dual encoder (appendix B.1): views are encoded separately and trained with InfoNCE."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.batch import CrossBatch
from longmatch.lab.baselines.cross.config import ViewPooling
from longmatch.lab.baselines.cross.scoring import read
from longmatch.lab.baselines.cross.training import LabelledRows
from longmatch.lab.losses import info_nce_loss
from longmatch.lab.papers.sst.training import SstRecipe, SstSettings
from longmatch.lab.training.gradient_cache import cached_backward
from longmatch.lab.training.limits import above_zero, at_least
from longmatch.lab.training.samplers import step_rng
from longmatch.units.tokens import Ints


@dataclass(frozen=True)
class DualSettings(SstSettings):
    """SST's settings, with the paper's for ranking as defaults."""

    side_tokens: int = 510  # per document without special ones; at most the backbone's positions
    pool: ViewPooling = "mean"
    loss_temperature: float = 0.05
    hard_negatives: int = 0  # non-matches of its query in the batch with each match, as `negatives` draws them

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero(self, "loss_temperature")
        at_least(self, hard_negatives=0)
        if self.swap:
            raise LongmatchError("The dual encoder scores both orders of a pair alike; leave swap out.")

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings of SstConfig."""
        return super().model(max_tokens) | {"head": "dual", "loss_temperature": self.loss_temperature}


class DualRecipe(SstRecipe):
    """A batch consists of matching pairs, and optionally non-matches of their queries; all other documents of the batch
    are negatives.

    A document has a different view with each query; the one for the current pair is read.
    """

    name: ClassVar[str] = "sst-dual"
    Settings: ClassVar[type] = DualSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 128, "epochs": 10, "patience": 3}
    options: DualSettings

    def draw(self, step: int) -> LabelledRows:
        """The pairs of a step, in the view of its epoch, and which documents match which query: (matches, pairs)."""
        chosen, batch = self._batch_rows(step), super().draw(step)
        queries = self.pairs.source[chosen[self.pairs.label[chosen] == 1]]
        related = self.data.related(np.concatenate([queries, self.pairs.target[chosen]]))
        return LabelledRows(batch.rows, torch.from_numpy(related[: len(queries), len(queries) :]))

    def backward(self, model: PreTrainedModel, batch: LabelledRows) -> dict[str, Tensor]:
        """In one pass if the batch fits the device, else in groups with gradient caching."""

        def vectors(rows: CrossBatch) -> Tensor:
            return read(self.model, rows).vectors

        def loss(pairs: Tensor) -> Tensor:
            with torch.autocast(pairs.device.type, enabled=False):
                queries, documents = pairs.float().chunk(2, dim=1)
                queries = queries[: len(batch.label)]  # the matches come first
                return info_nce_loss(queries, documents, self.options.loss_temperature, batch.label)

        return {"loss": cached_backward(vectors, list(batch.rows.groups(self.tokens_per_pass)), loss)}

    def _training_rows(self) -> Ints:
        return np.flatnonzero(self.pairs.label)

    def _batch_rows(self, step: int) -> Ints:
        """Matches, followed by non-matches of the same queries without repetition, as far as a query has them."""
        matches, random = super()._batch_rows(step), step_rng(self.settings.seed, step)
        queries, counts = np.unique(self.pairs.source[matches], return_counts=True)
        wanted = zip(queries.tolist(), (self.options.hard_negatives * counts).tolist(), strict=True)
        others = [random.permutation(self._non_matches.get(query, matches[:0]))[:count] for query, count in wanted]
        return np.concatenate([matches, *others])

    @cached_property
    def _non_matches(self) -> Mapping[int, Ints]:
        """The rows of each query's non-matches."""
        rows = np.flatnonzero(self.pairs.label == 0)
        rows = rows[np.argsort(self.pairs.source[rows], kind="stable")]
        queries, first = np.unique(self.pairs.source[rows], return_index=True)
        return dict(zip(queries.tolist(), np.split(rows, first[1:]), strict=True))
