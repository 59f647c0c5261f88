"""SMITH's fine-tuning (section 4.3): the chance that two documents belong together, from their cosine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.encoders.tokenizer import special_tokens
from longmatch.errors import LongmatchError
from longmatch.models.smith.batch import BlockBatch
from longmatch.models.smith.model import SmithModel
from longmatch.models.smith.opening import open_smith
from longmatch.models.smith.reading import layout, read
from longmatch.training.caching import cached_backward
from longmatch.training.data import TrainingData
from longmatch.training.limits import above_zero, at_least
from longmatch.training.pairs import cosine_measures
from longmatch.training.recipe import Recipe
from longmatch.training.recipes.smith_shape import OF_THE_ENCODER, SmithShape, fewer
from longmatch.training.samplers import Epochs, Ints
from longmatch.training.settings import TrainingSettings


@dataclass(frozen=True)
class SmithSettings(SmithShape):
    """How SMITH is fine-tuned, beside what the model is made of.

    Without `pretrained` all weights begin new (SMITH-NP), or with a `backbone` those above it (SMITH-Short). With it
    the encoder's settings are the folder's; only max_blocks, cut_long and combine may be others.
    """

    pretrained: str | None = None  # a folder that smith-pretrain, or this, made
    scale: float = 10.0  # where the learned scale and bias of the cosine begin
    bias: float = -5.0
    validation_pairs: int | None = None  # looked at, drawn once; by default all

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero(self, "scale")
        at_least(self, validation_pairs=2)
        for key in OF_THE_ENCODER:
            if self.pretrained is not None and getattr(self, key) is not None:
                raise LongmatchError(f"The setting {key} is the pre-trained model's own; leave it out.")

    def model(self, max_tokens: int | None) -> tuple[SmithModel, Any]:
        """The model that training begins with, and its tokenizer."""
        if self.pretrained is None:
            model, tokenizer = self.new(max_tokens)
        else:
            model, tokenizer = open_smith(self.pretrained)
            blocks = self.max_blocks or int(model.config.max_blocks)
            blocks = fewer(blocks, max_tokens, int(model.config.block_tokens))
            model = model.changed(**self.given | {"max_blocks": blocks, "threshold": None})
        model.config.scale, model.config.bias = self.scale, self.bias
        nn.init.constant_(model.scale, self.scale)
        nn.init.constant_(model.bias, self.bias)
        return model, tokenizer


@dataclass(frozen=True)
class SmithBatch:
    """The documents of labelled pairs, each once."""

    blocks: BlockBatch
    pairs: Tensor  # (3, pairs): two documents of the batch, and the label

    @property
    def tokens(self) -> int:
        """How many tokens the model reads."""
        return self.blocks.tokens

    def to(self, device: torch.device) -> "SmithBatch":
        """The same on another device."""
        return SmithBatch(self.blocks.to(device), self.pairs.to(device))


class SmithRecipe(Recipe[SmithBatch]):
    """A batch is labelled pairs (32 in the paper); each document is read once, with nothing hidden."""

    name: ClassVar[str] = "smith"
    Settings: ClassVar[type] = SmithSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64, "epochs": 10, "patience": 5}
    model: SmithModel

    def __init__(
        self, data: TrainingData, model: SmithModel, tokenizer: Any, settings: TrainingSettings, own: SmithSettings
    ) -> None:
        self.data, self.model, self.tokenizer, self.settings, self.own = data, model, tokenizer, settings, own
        self.layout = layout(model, special_tokens(tokenizer, self.name))
        self.pairs, self.held_out = data.pairs("train"), data.pairs("validation")
        self._epochs = Epochs(len(self.pairs), max(1, settings.documents // 2), settings.seed)

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, own: SmithSettings) -> Self:
        """Open the pairs, and a new or a pre-trained model."""
        model, tokenizer = own.model(settings.max_tokens)
        found = TrainingData.open(data, tokenizer.backend_tokenizer, cache, seed=settings.seed)
        return cls(found, model, tokenizer, settings, own)

    @property
    def steps_per_epoch(self) -> int:
        """Until every pair was drawn once."""
        return self._epochs.steps_per_epoch

    def draw(self, step: int) -> SmithBatch:
        """The documents of some pairs."""
        rows = self._epochs.rows(step)
        pair = np.stack([self.pairs.source[rows], self.pairs.target[rows]])
        numbers, places = np.unique(pair, return_inverse=True)
        named = np.concatenate([places.reshape(2, -1), self.pairs.label[rows][None]])
        return SmithBatch(self._lay_out(numbers), torch.from_numpy(named))

    def backward(self, model: PreTrainedModel, batch: SmithBatch) -> dict[str, Tensor]:
        """One pass where the device holds the whole batch; else, by gradient caching, as many as it takes."""
        pieces = list(batch.blocks.groups(self.settings.token_budget(batch.blocks.device.type == "cuda")))
        return {"loss": cached_backward(self._vectors, pieces, lambda vectors: self._loss(vectors, batch))}

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Cosines of the validation pairs: average precision decides."""
        found = cosine_measures(self.held_out, self._document_vectors, self.own.validation_pairs)
        return found | {"scale": self.model.scale.item(), "bias": self.model.bias.item()}

    def save(self, folder: Path) -> None:
        """Config, weights and tokenizer."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        began = {"backbone": self.own.backbone, "pretrained": self.own.pretrained}
        known = {key: value for key, value in began.items() if value is not None}
        words = {} if known else {"vocabulary": self.own.tokenizer or DEFAULT_NAME}
        return {**known, **words, **self.data.facts}

    def _lay_out(self, numbers: Ints) -> BlockBatch:
        return self.layout.lay_out([self.data.shelf[number] for number in numbers.tolist()])

    def _vectors(self, blocks: BlockBatch) -> Tensor:
        found: Tensor = read(self.model, blocks).documents
        return found

    def _loss(self, vectors: Tensor, batch: SmithBatch) -> Tensor:
        """Binary cross-entropy of sigmoid(scale * cos + bias) with the labels."""
        with torch.autocast(vectors.device.type, enabled=False):
            source, target, label = batch.pairs
            cosines = (vectors[source] * vectors[target]).sum(1)
            return nn.functional.binary_cross_entropy_with_logits(self.model.logits(cosines), label.float())

    @torch.no_grad()
    def _document_vectors(self, numbers: Ints) -> Tensor:
        """The vectors of documents, as many at a time as the device holds: (documents, width), on the CPU."""
        budget = self.settings.token_budget(self.model.device.type == "cuda")
        found = [
            self._vectors(group.to(self.model.device)).float().cpu()
            for part in np.array_split(numbers, -(-len(numbers) // 256))
            for group in self._lay_out(part).groups(budget)
        ]
        return torch.cat(found)
