"""The siamese baseline of the papers (S-BERT, MatchBERT): one BERT over the first 512 tokens of either document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.flat import Flat, groups_within, mean_of_tokens
from longmatch.encoders.pretrained import DEFAULT_NAME, Pooling, locate
from longmatch.encoders.saving import save_sentence_model
from longmatch.encoders.tokenizer import open_tokenizer
from longmatch.losses import pair_cross_entropy_loss, supervised_contrastive_loss
from longmatch.training.caching import cached_backward
from longmatch.training.data import TrainingData
from longmatch.training.limits import above_zero, at_least
from longmatch.training.pairs import cosine_measures
from longmatch.training.recipe import Recipe
from longmatch.training.samplers import Epochs, Ints
from longmatch.training.settings import TrainingSettings


@dataclass(frozen=True)
class SiameseSettings:
    """What the siamese encoder knows beside the settings of all models.

    MatchBERT (SMITH section 3.2.1): the cosine of the two documents' vectors, cross-entropy with the label; S-BERT
    (CoLDE section 4.1.3) is the same with the first 512 tokens. A vector is the mean of the token vectors.
    `loss=contrastive` is CoLDE's loss over documents: what is left of CoLDE if it reads nothing but the opening.
    """

    backbone: str | None = None  # a folder or hub id; the packaged MiniLM by default
    opening: int = 512  # tokens read of a document, start and end tokens included; as many as the backbone can at most
    loss: Literal["cross_entropy", "contrastive"] = "cross_entropy"
    scale: float = 10.0  # of cross-entropy: how steeply the chance rises with the cosine
    middle: float = 0.5  # of cross-entropy: the cosine that is an even chance
    loss_temperature: float = 0.05  # of the contrastive loss
    validation_pairs: int | None = None  # looked at, drawn once; by default all

    def __post_init__(self) -> None:
        at_least(self, opening=3, validation_pairs=2)
        above_zero(self, "scale", "loss_temperature")


@dataclass(frozen=True)
class OpeningBatch:
    """The openings of documents, and which belong together: pair by pair, or every two of them."""

    openings: Flat
    together: Tensor  # (3, pairs): two documents of the batch, and the label; or (documents, documents)

    @property
    def tokens(self) -> int:
        """How many tokens the model reads."""
        return len(self.openings.ids)

    def to(self, device: torch.device) -> "OpeningBatch":
        """The same on another device."""
        return replace(self, openings=self.openings.to(device), together=self.together.to(device))


class SiameseRecipe(Recipe[OpeningBatch]):
    """A batch is labelled pairs; each document is read once. The model is the backbone itself."""

    name: ClassVar[str] = "first"
    Settings: ClassVar[type] = SiameseSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64}
    model: Any

    def __init__(
        self, backbone: Backbone, tokenizer: Any, data: TrainingData, settings: TrainingSettings, own: SiameseSettings
    ) -> None:
        self.data, self.tokenizer, self.settings, self.own = data, tokenizer, settings, own
        self.model, self.specials = backbone.model, (backbone.first_token, backbone.last_token)
        whole = Backbone(backbone.model, backbone.tokenizer, Pooling(), self.specials, backbone.name)
        limits = (
            own.opening - 2,
            whole.max_tokens,
            settings.max_tokens,
        )  # whatever length the checkpoint was meant for
        self.limit = min(limit for limit in limits if limit is not None)
        self.pairs, self.held_out = data.pairs("train"), data.pairs("validation")
        matches = np.flatnonzero(self.pairs.label)
        self._rows = matches if own.loss == "contrastive" else np.arange(len(self.pairs))
        self._epochs = Epochs(len(self._rows), max(1, settings.documents // 2), settings.seed)

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, own: SiameseSettings) -> Self:
        """Open the pairs and the backbone."""
        backbone = Backbone.load(own.backbone, device="cpu", precision="float32")
        found = TrainingData.open(data, backbone.tokenizer, cache, seed=settings.seed)
        return cls(backbone, open_tokenizer(locate(own.backbone)), found, settings, own)

    @property
    def steps_per_epoch(self) -> int:
        """Until every pair (of the contrastive loss: every match) was drawn once."""
        return self._epochs.steps_per_epoch

    def draw(self, step: int) -> OpeningBatch:
        """The documents of some pairs, each document once."""
        rows = self._rows[self._epochs.rows(step)]
        numbers, places = _documents(self.pairs.source[rows], self.pairs.target[rows])
        if self.own.loss == "contrastive":
            return OpeningBatch(self._lay_out(numbers), torch.from_numpy(self.data.related(numbers)))
        named = np.concatenate([places, self.pairs.label[rows][None]])
        return OpeningBatch(self._lay_out(numbers), torch.from_numpy(named))

    def backward(self, model: PreTrainedModel, batch: OpeningBatch) -> dict[str, Tensor]:
        """One pass where the device holds the whole batch; else, by gradient caching, as many as it takes."""
        pieces = self._pieces(batch.openings)
        return {"loss": cached_backward(self._vectors, pieces, lambda vectors: self._loss(vectors, batch))}

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Cosines of the validation pairs: average precision decides."""
        return cosine_measures(self.held_out, self._document_vectors, self.own.validation_pairs)

    def save(self, folder: Path) -> None:
        """A sentence-transformers folder that reads as many tokens as training did."""
        save_sentence_model(folder, self.model, self.tokenizer, self.limit + 2)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        return {"backbone": self.own.backbone or DEFAULT_NAME, **self.data.facts}

    @torch.no_grad()
    def _document_vectors(self, numbers: Ints) -> Tensor:
        """The vectors of documents, as many at a time as the device holds: (documents, width), on the CPU."""
        pieces = self._pieces(self._lay_out(numbers))
        return torch.cat([self._vectors(piece.to(self.model.device)).float().cpu() for piece in pieces])

    def _lay_out(self, numbers: Ints) -> Flat:
        pieces = [self.data.shelf.piece(number, 0, self.limit) for number in numbers.tolist()]
        return Flat.of(pieces, self.specials)

    def _pieces(self, flat: Flat) -> list[Flat]:
        """Runs of documents that the device holds at a time."""
        budget = self.settings.token_budget(self.model.device.type == "cuda")
        return [flat.between(first, last) for first, last in groups_within(flat.lengths, budget)]

    def _vectors(self, flat: Flat) -> Tensor:
        """One vector a document: (documents, width)."""
        order, found = [], []
        for rows, places, mask in flat.by_length():
            states = self.model(input_ids=flat.ids[places], attention_mask=mask).last_hidden_state
            order.append(rows)
            found.append(mean_of_tokens(states, mask))
        return torch.cat(found)[torch.cat(order).argsort().to(flat.ids.device)]

    def _loss(self, vectors: Tensor, batch: OpeningBatch) -> Tensor:
        with torch.autocast(vectors.device.type, enabled=False):
            if self.own.loss == "contrastive":
                return supervised_contrastive_loss(vectors, batch.together, self.own.loss_temperature)
            source, target, label = batch.together
            return pair_cross_entropy_loss(vectors[source], vectors[target], label, self.own.scale, self.own.middle)


def _documents(source: Ints, target: Ints) -> tuple[Ints, Ints]:
    """The documents of some pairs, each once (documents,), and where each pair's two stand there (2, pairs)."""
    numbers, places = np.unique(np.stack([source, target]), return_inverse=True)
    return numbers, places.reshape(2, -1)
