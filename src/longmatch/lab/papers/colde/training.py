"""CoLDE's training (section 3.3 and 4.1.2): sections of documents that belong together are pulled together."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import checkpoint_errors, locate
from longmatch.encoders.tokenizer import open_tokenizer, special_tokens
from longmatch.errors import LongmatchError
from longmatch.lab.losses import cosine_loss, supervised_contrastive_loss
from longmatch.lab.papers.colde.batch import ChunkBatch, Layout
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.colde.reading import layout, read
from longmatch.lab.training.bi_encoder_recipe import BiEncoderRecipe, PairBatch
from longmatch.lab.training.limits import above_zero, at_least
from longmatch.lab.training.recipe import token_budget
from longmatch.lab.training.settings import TrainingSettings

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


class ColdeRecipe(BiEncoderRecipe[ChunkBatch]):
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
    options: ColdeSettings

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: ColdeSettings) -> tuple[ColdeModel, Any]:
        """A new model around a pretrained backbone."""
        with checkpoint_errors(f"The backbone {options.backbone}"):
            tokenizer = open_tokenizer(locate(options.backbone))
            return ColdeModel.from_backbone(options.backbone, **options.model()), tokenizer

    def draw(self, step: int) -> PairBatch[ChunkBatch]:
        """The documents of some pairs, each document once; what is contrasted are their sections."""
        batch = super().draw(step)
        if not self.options.contrastive:
            return batch
        related = batch.targets.numpy()
        if self.options.positives == "connected":
            related = chained(related)
        owner = _documents_of_rows(batch.documents, self.model.config.augmented).numpy()
        return replace(batch, targets=torch.from_numpy(related[np.ix_(owner, owner)]))

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Of documents cut off by `max_tokens` there is no threshold: the trained model reads whole ones."""
        found = super().validate(model)
        return found if self.settings.max_tokens is None else {k: v for k, v in found.items() if k != "threshold"}

    def _layout(self) -> Layout:
        return layout(self.model, special_tokens(self.tokenizer, str(self.options.backbone)), self.settings.max_tokens)

    @property
    def _budget(self) -> int:
        return token_budget(self.settings, self.model.backbone, self.model.device)

    def _vectors(self, documents: ChunkBatch) -> Tensor:
        found = read(self.model, documents)
        return found.sections if self.model.config.augmented else found.documents

    def _validation_vectors(self, documents: ChunkBatch) -> Tensor:
        return read(self.model, documents).documents

    def _loss(self, vectors: Tensor, batch: PairBatch[ChunkBatch]) -> Tensor:
        if self.options.contrastive:
            return supervised_contrastive_loss(vectors, batch.targets, self.model.config.loss_temperature)
        source, target, label = batch.targets
        return cosine_loss(vectors[source], vectors[target], label)


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
