"""Training of the cross-encoder: cross-entropy over labelled pairs, one view per epoch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import checkpoint_errors, locate
from longmatch.lab.baselines.cross.encoder import CrossModel, Readout, margins, match_probabilities, read
from longmatch.lab.baselines.cross.selection import CrossBatch, Pair, PairLayout
from longmatch.lab.encoders.checkpoint import open_tokenizer, special_tokens
from longmatch.lab.training.data.labels import PairTable
from longmatch.lab.training.labelled_recipe import (
    LabelledRecipe,
    classification_backward,
    pair_measures,
    validation_rows,
)
from longmatch.lab.training.recipe import step_rng
from longmatch.lab.training.settings import TrainingSettings, at_least, below_one
from longmatch.units.tokens import Ints


@dataclass(frozen=True)
class CrossSettings:
    """The cross-encoder's settings."""

    backbone: str | None = None  # a folder or hub id; the packaged MiniLM by default
    side_tokens: int = 256  # read of each document, at most what the backbone's positions allow
    dropout: float = 0.1  # of the pair's vector
    validation_pairs: int | None = None  # sampled once; all by default
    readout: Readout = "pooler"  # the backbone's own pooler; fresh: a new one; mean: a new one over all states
    swap: bool = False  # in training, exchange the two documents of a random half of the pairs

    of_training: ClassVar[tuple[str, ...]] = ("backbone", "validation_pairs", "swap")  # not in the model's config
    in_config: ClassVar[Mapping[str, str]] = {}  # what the config calls a setting, where it does otherwise

    def __post_init__(self) -> None:
        at_least(self, side_tokens=1, validation_pairs=2)
        below_one(self, "dropout")

    def model(self, max_tokens: int | None) -> dict[str, Any]:
        """The settings that go into the model's config."""
        named = {
            self.in_config.get(key, key): value for key, value in vars(self).items() if key not in self.of_training
        }
        return named | {"side_tokens": min(self.side_tokens, max_tokens or self.side_tokens)}


@dataclass(frozen=True)
class LabelledRows:
    """The rows of pairs, and the pairs' labels."""

    rows: CrossBatch
    label: Tensor  # (pairs,)

    @property
    def tokens(self) -> int:
        """The number of tokens the model reads."""
        return self.rows.tokens

    def to(self, device: torch.device) -> "LabelledRows":
        """A copy on another device."""
        return LabelledRows(self.rows.to(device), self.label.to(device))

    def groups(self, budget: int) -> Iterator[tuple[CrossBatch, Tensor]]:
        """Groups of rows of at most `budget` tokens, with their labels."""
        parts = list(self.rows.groups(budget))
        return zip(parts, self.label.split([len(part) // part.joined_views for part in parts]), strict=True)


class CrossRecipe(LabelledRecipe[LabelledRows]):
    """Epoch t reads view t of each pair (SST section 3.4); where the model reads openings, all views are the same."""

    name: ClassVar[str] = "cross"
    Settings: ClassVar[type] = CrossSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 3}
    Model: ClassVar[type[CrossModel]] = CrossModel
    model: CrossModel
    options: CrossSettings
    layout: PairLayout

    def prepare(self) -> None:
        """Lay pairs out as the model reads them."""
        specials = special_tokens(self.tokenizer, locate(self.options.backbone))
        self.layout = self.model.layout(self.model.selection(self.tokenizer), specials)

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: CrossSettings) -> tuple[CrossModel, Any]:
        """A new model around a pretrained backbone; its views use the training's seed."""
        with checkpoint_errors(f"The backbone {options.backbone}"):
            tokenizer = open_tokenizer(locate(options.backbone))
            config = options.model(settings.max_tokens)
            return cls.Model.from_backbone(options.backbone, seed=settings.seed, **config), tokenizer

    @property
    def training_layout(self) -> PairLayout:
        """How training pairs are laid out: as all others, unless a subclass reads other views in training."""
        return self.layout

    def draw(self, step: int) -> LabelledRows:
        """The pairs of a step, in the view of its epoch; with `swap` some have source and target exchanged."""
        chosen, random = self.batch_rows(step), step_rng(self.settings.seed, step)
        pairs = (
            (b, a) if self.options.swap and random.random() < 0.5 else (a, b)
            for a, b in self.token_pairs(self.pairs, chosen)
        )
        rows = self.training_layout.lay_out(pairs, self._views(step), self.model.joined_views)
        return LabelledRows(rows, torch.from_numpy(self.pairs.label[chosen]))

    def is_new(self, parameter: str) -> bool:
        """All layers above the backbone, but a pooler that came with it."""
        pretrained = ("backbone.", "pooler.") if self.options.readout == "pooler" else ("backbone.",)
        return not parameter.startswith(pretrained)

    def _views(self, step: int) -> Sequence[int]:
        """The views that a step reads: that of its epoch."""
        return [step // self.steps_per_epoch]

    def backward(self, model: PreTrainedModel, batch: LabelledRows) -> dict[str, Tensor]:
        """The mean cross-entropy of the pairs, accumulated group by group."""
        groups = ((read(self.model, rows).logits, label) for rows, label in batch.groups(self.tokens_per_pass))
        return classification_backward(groups, batch.label)

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Measures of the validation pairs' probabilities; average precision selects the weights."""
        view_margins = torch.cat([margins(self.model, rows) for rows in self.held_out_rows])
        chosen, config = validation_rows(self.held_out, self.options.validation_pairs), self.model.config
        scores = match_probabilities(view_margins.reshape(len(chosen), -1), config.pool)
        return pair_measures(scores.numpy(), self.held_out.label[chosen])

    @cached_property
    def held_out_rows(self) -> Sequence[CrossBatch]:
        """All views of the validation pairs, laid out once: selecting sentences may be slow."""
        pairs = self.token_pairs(self.held_out, validation_rows(self.held_out, self.options.validation_pairs))
        rows = self.layout.lay_out(pairs, range(self.model.config.views), self.model.joined_views)
        return list(rows.groups(self.tokens_per_pass))

    def token_pairs(self, table: PairTable, rows: Ints) -> Iterator[Pair]:
        """The tokens that may be read of both documents of some pairs."""
        tokens, limit = self.data.tokens, self.settings.max_tokens
        for source, target in np.stack([table.source[rows], table.target[rows]], axis=1).tolist():
            yield tokens[source].truncated(limit), tokens[target].truncated(limit)
