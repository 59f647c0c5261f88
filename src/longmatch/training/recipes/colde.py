"""CoLDE's training (section 3.3 and 4.1.2): sections of documents that belong together are pulled together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import DEFAULT_NAME, locate
from longmatch.encoders.tokenizer import open_tokenizer, special_tokens
from longmatch.errors import LongmatchError
from longmatch.losses import cosine_loss, supervised_contrastive_loss
from longmatch.models.colde.batch import ChunkBatch
from longmatch.models.colde.model import ColdeModel
from longmatch.models.colde.reading import layout, read
from longmatch.training.caching import cached_backward
from longmatch.training.data import TrainingData
from longmatch.training.limits import above_zero, at_least
from longmatch.training.pairs import cosine_measures
from longmatch.training.recipe import Recipe
from longmatch.training.samplers import Epochs, Ints
from longmatch.training.settings import TrainingSettings

Which = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ColdeSettings:
    """What a CoLDE model is made of (see ColdeConfig), and how documents are taken to belong together."""

    backbone: str | None = None  # a folder or hub id; the packaged MiniLM by default
    sections: int = 2
    chunk_tokens: int = 512
    max_chunks: int = 64
    attention_heads: int = 4
    recurrent_width: int = 512
    projection_width: int = 256
    loss_temperature: float = 0.5
    augmented: bool = True  # false: without sections and their embeddings (-Aug)
    recurrent: bool = True  # false: without LSTM and attention (-LSTM)
    contrastive: bool = True  # false: the cosine of labelled pairs instead (-CL)
    positives: Literal["linked", "connected"] = "linked"  # connected: also what a chain of the batch's links joins
    validation_pairs: int | None = None  # looked at, drawn once; by default all

    def __post_init__(self) -> None:
        at_least(self, sections=1, chunk_tokens=8, max_chunks=1, attention_heads=1, recurrent_width=2)
        at_least(self, projection_width=1, validation_pairs=2)
        if self.recurrent_width % 2:
            raise LongmatchError(f"The setting recurrent_width is {self.recurrent_width}; it must be even.")
        above_zero(self, "loss_temperature")

    def model(self) -> dict[str, Any]:
        """The settings that are the model's own."""
        apart = ("backbone", "positives", "validation_pairs")
        return {name: value for name, value in vars(self).items() if name not in apart}


@dataclass(frozen=True)
class ColdeBatch:
    """Documents, and which of them belong together: every two of them, or pair by pair."""

    chunks: ChunkBatch
    together: Tensor  # (rows, rows) of sections or documents; or (3, pairs): two documents of the batch, and the label

    @property
    def tokens(self) -> int:
        """How many tokens the model reads."""
        return self.chunks.tokens

    def to(self, device: torch.device) -> "ColdeBatch":
        """The same on another device."""
        return ColdeBatch(self.chunks.to(device), self.together.to(device))


class ColdeRecipe(Recipe[ColdeBatch]):
    """Batches of documents drawn as pairs that belong together.

    In a batch two documents are positives of each other where the training data link them, whichever pair brought them
    in; all others are negatives. The paper gives one label to "sets of similar articles". Citations form no such sets:
    of 100 ACL papers drawn as pairs two thirds hang together by some chain, and would all be called alike. So a chain
    does not count, unless `positives=connected`.
    """

    name = "colde"
    Settings: ClassVar[type] = ColdeSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 100, "epochs": 25, "patience": 5}
    model: ColdeModel

    def __init__(
        self, data: TrainingData, model: ColdeModel, tokenizer: Any, settings: TrainingSettings, own: ColdeSettings
    ) -> None:
        self.data, self.model, self.tokenizer, self.settings, self.own = data, model, tokenizer, settings, own
        self.layout = layout(model, special_tokens(tokenizer, str(own.backbone)), settings.max_tokens)
        self.pairs = data.pairs("train")
        self.held_out = data.pairs("validation")
        if model.config.contrastive:
            self._rows = np.flatnonzero(self.pairs.label)
        else:
            self._rows = np.arange(len(self.pairs))
        self._epochs = Epochs(len(self._rows), max(1, settings.documents // 2), settings.seed)

    @classmethod
    def make(cls, data: Sequence[Path], cache: Path, settings: TrainingSettings, own: ColdeSettings) -> Self:
        """A new model around a pretrained backbone."""
        try:
            tokenizer = open_tokenizer(locate(own.backbone))
            model = ColdeModel.from_backbone(own.backbone, **own.model())
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise LongmatchError(f"The backbone {own.backbone} cannot be opened ({reason}).") from error
        found = TrainingData.open(data, tokenizer.backend_tokenizer, cache, seed=settings.seed)
        return cls(found, model, tokenizer, settings, own)

    @property
    def steps_per_epoch(self) -> int:
        """Until every pair that belongs together (without contrast: every pair) was drawn once."""
        return self._epochs.steps_per_epoch

    def draw(self, step: int) -> ColdeBatch:
        """The documents of some pairs, each document once."""
        rows = self._rows[self._epochs.rows(step)]
        source, target = self.pairs.source[rows], self.pairs.target[rows]
        numbers, places = np.unique(np.stack([source, target]), return_inverse=True)
        chunks = self._lay_out(numbers)
        if not self.model.config.contrastive:
            named = np.concatenate([places.reshape(2, -1), self.pairs.label[rows][None]])
            return ColdeBatch(chunks, torch.from_numpy(named))
        owner = _documents_of_rows(chunks, self.model.config.augmented).numpy()
        related = self.data.related(numbers)
        if self.own.positives == "connected":
            related = chained(related)
        return ColdeBatch(chunks, torch.from_numpy(related[np.ix_(owner, owner)]))

    def backward(self, model: PreTrainedModel, batch: ColdeBatch) -> dict[str, Tensor]:
        """One pass where the device holds the whole batch; else, by gradient caching, as many as it takes."""
        pieces = list(batch.chunks.groups(self.settings.token_budget(batch.chunks.device.type == "cuda")))
        return {"loss": cached_backward(self._vectors, pieces, lambda vectors: self._loss(vectors, batch))}

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Cosines of the validation pairs' document vectors: average precision decides.

        Of documents cut off by `max_tokens` there is no threshold: the trained model reads whole ones.
        """
        found = cosine_measures(self.held_out, self._document_vectors, self.own.validation_pairs)
        return found if self.settings.max_tokens is None else {k: v for k, v in found.items() if k != "threshold"}

    def save(self, folder: Path) -> None:
        """Config, weights and tokenizer."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)

    @property
    def facts(self) -> Mapping[str, Any]:
        """For the model card."""
        return {"backbone": self.own.backbone or DEFAULT_NAME, **self.data.facts}

    def _lay_out(self, numbers: Ints) -> ChunkBatch:
        return self.layout.lay_out([self.data.shelf[number] for number in numbers.tolist()])

    def _vectors(self, chunks: ChunkBatch) -> Tensor:
        found = read(self.model, chunks)
        return found.sections if self.model.config.augmented else found.documents

    def _loss(self, vectors: Tensor, batch: ColdeBatch) -> Tensor:
        with torch.autocast(vectors.device.type, enabled=False):
            if self.model.config.contrastive:
                return supervised_contrastive_loss(vectors, batch.together, self.model.config.loss_temperature)
            source, target, label = batch.together
            return cosine_loss(vectors[source], vectors[target], label)

    @torch.no_grad()
    def _document_vectors(self, numbers: Ints) -> Tensor:
        """The vectors of documents, as many at a time as the device holds: (documents, width), on the CPU."""
        place = self.model.device
        budget = self.settings.token_budget(place.type == "cuda")
        lengths = np.minimum(self.data.shelf.lengths[numbers], self.settings.max_tokens or np.inf)
        blocks = np.split(numbers, np.flatnonzero(np.diff(lengths.cumsum() // (8 * budget))) + 1)
        found = [
            read(self.model, group).documents.float().cpu()
            for block in blocks
            for group in self._lay_out(block).to(place).groups(budget)
        ]
        return torch.cat(found)


def chained(related: Which) -> Which:
    """Also what a chain joins: (documents, documents).

    >>> chained(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)).all()
    np.True_
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, label = connected_components(csr_array(related), directed=False)
    found: Which = label[:, None] == label
    return found


def _documents_of_rows(chunks: ChunkBatch, augmented: bool) -> Tensor:
    """The document of each vector that is contrasted: of each section, or each document."""
    ends = chunks.document * (chunks.section.max() + 1) + (chunks.section if augmented else 0)
    first = torch.cat([torch.ones(1, dtype=torch.bool), ends.diff() != 0])
    return chunks.document[first]
