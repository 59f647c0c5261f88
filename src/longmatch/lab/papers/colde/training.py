"""CoLDE's training (sections 3.3 and 4.1.2): the sections of matching documents are pulled together."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from transformers import PreTrainedModel

from longmatch.encoders.pretrained import checkpoint_errors, locate
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import open_tokenizer, special_tokens
from longmatch.lab.encoders.ragged import to_device
from longmatch.lab.losses import cosine_loss, supervised_contrastive_loss
from longmatch.lab.papers.colde.encoder import ChunkBatch, ChunkLayout, ColdeModel, Readout, run_offsets
from longmatch.lab.training.bi_encoder_recipe import CONTRASTIVE_BUDGET, BiEncoderRecipe, PairBatch
from longmatch.lab.training.recipe import token_budget
from longmatch.lab.training.settings import TrainingSettings, above_zero, at_least, below_one

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ColdeSettings:
    """The model's settings (see ColdeConfig), and those of its loss.

    The defaults differ from the paper's values, which `--preset paper` gives, in a few respects: a temperature at which
    near negatives count, a readout that sees the whole document, no projection, and `views`. The paper contrasts
    sections alone, so it never trains the vector of the whole document, which matching compares; by default documents
    are contrasted with documents and sections with sections, each `apart`. `together` they are one pool of views.
    """

    backbone: str | None = None  # a folder or hub id; the packaged MiniLM by default
    dropout: float | None = None  # of the backbone; by default as its config says
    sections: int = 2
    chunk_tokens: int = 512
    max_chunks: int = 64
    attention_heads: int = 4
    recurrent_width: int = 512
    projection_width: int | None = None  # none: vectors are compared as the LSTM leaves them
    loss_temperature: float = 0.05
    normalised: bool = True  # false: the loss takes z as it is, as the paper writes it; matching still uses the cosine
    views: Literal["sections", "together", "apart"] = "apart"  # what the loss contrasts
    section_weight: float = 1.0  # of the sections' loss beside the documents', where they are contrasted apart
    readout: Readout = "mean"  # of the LSTM: the mean of its outputs, weighted by tokens, or its last states
    forget_bias: float = 1.0  # initial bias of the LSTM's forget gates
    residual: bool = True  # the LSTM changes the mean of the chunk vectors, and starts by changing nothing
    augmented: bool = True  # false: no sections and no embeddings of them (-Aug)
    recurrent: bool = True  # false: no LSTM and no attention (-LSTM)
    contrastive: bool = True  # false: train on the cosine of labelled pairs (-CL)
    positives: Literal["linked", "connected"] = "linked"  # connected: documents joined by a chain of links count too
    validation_pairs: int | None = None  # a fixed sample of them; all by default

    def __post_init__(self) -> None:
        at_least(self, sections=1, chunk_tokens=8, max_chunks=1, attention_heads=1, recurrent_width=2)
        at_least(self, projection_width=1, validation_pairs=2, section_weight=0)
        if self.recurrent_width % 2:
            raise LongmatchError(f"The setting recurrent_width is {self.recurrent_width}; it must be even.")
        above_zero(self, "loss_temperature")
        below_one(self, "dropout")

    def model(self) -> dict[str, Any]:
        """The settings of ColdeConfig."""
        excluded = ("backbone", "normalised", "views", "section_weight", "positives", "validation_pairs")
        return {name: value for name, value in vars(self).items() if name not in excluded}


PAPER: Mapping[str, Any] = {  # section 4.1.2; the number of epochs is that of its citation data, AAN
    "learning_rate": 5e-5,
    "head_learning_rate": 5e-5,
    "epochs": 25,
    "loss_temperature": 0.5,
    "views": "sections",
    "projection_width": 256,
    "readout": "last",
    "forget_bias": 0.0,
    "residual": False,
}


class ColdeRecipe(BiEncoderRecipe[ChunkBatch]):
    """Each batch consists of the documents of some matching pairs.

    Two documents of a batch are positives of each other if the training data link them, whichever pair brought them
    into the batch; all others are negatives. The paper gives "sets of similar articles" one label, but citations do not
    form such sets: of 100 ACL papers drawn as pairs two thirds are connected by some chain of links, and all of those
    would be positives. So only direct links count, unless `positives=connected`.
    """

    name = "colde"
    Settings: ClassVar[type] = ColdeSettings
    defaults: ClassVar[Mapping[str, Any]] = CONTRASTIVE_BUDGET
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": PAPER}
    model: ColdeModel
    options: ColdeSettings

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: ColdeSettings) -> tuple[ColdeModel, Any]:
        """A new model around a pretrained backbone."""
        with checkpoint_errors(f"The backbone {options.backbone}"):
            tokenizer = open_tokenizer(locate(options.backbone))
            return ColdeModel.from_backbone(options.backbone, **options.model()), tokenizer

    def draw(self, step: int) -> PairBatch[ChunkBatch]:
        """The documents of some pairs, each document once; the rows to contrast are their sections."""
        batch = super().draw(step)
        if not self.options.contrastive:
            return batch
        related = batch.targets.numpy()
        if self.options.positives == "connected":
            related = connected(related)
        rows = self._contrasted(batch.documents)[1].numpy()
        return replace(batch, targets=torch.from_numpy(related[np.ix_(rows, rows)]))

    def validate(self, model: PreTrainedModel) -> dict[str, float]:
        """Without a threshold if `max_tokens` truncates documents: the trained model reads them whole."""
        measures = super().validate(model)
        return measures if self.settings.max_tokens is None else {k: v for k, v in measures.items() if k != "threshold"}

    def _layout(self) -> ChunkLayout:
        return self.model.layout(special_tokens(self.tokenizer, str(self.options.backbone)), self.settings.max_tokens)

    @property
    def tokens_per_pass(self) -> int:
        """As many as fit on the device."""
        return token_budget(self.settings, self.model.backbone, self.model.device)

    def is_new(self, parameter: str) -> bool:
        """All but the backbone. The section and chunk embeddings are part of its input and learn at its rate."""
        return not parameter.startswith(("backbone.", "section_embedding.", "chunk_embedding."))

    def _vectors(self, documents: ChunkBatch) -> Tensor:
        output = self.model.encode_batch(documents, unit=self.options.normalised)
        vectors: Tensor = torch.cat([output.sections, output.documents])
        return vectors[to_device(self._contrasted(documents)[0], vectors.device)]

    def _contrasted(self, chunks: ChunkBatch) -> tuple[Tensor, Tensor]:
        """The vectors to contrast, by their places among the sections and then the documents, and whose they are."""
        sections = chunks.document[run_offsets(chunks.document * (chunks.section.max() + 1) + chunks.section)[:-1]]
        owners = torch.cat([sections, chunks.document.unique_consecutive()])  # of all sections, of all documents
        places = owners.argsort(stable=True)  # each document's sections, then itself
        if not self.model.config.augmented:
            places = places[places >= len(sections)]
        elif self.options.views == "sections":
            places = places[places < len(sections)]
        return places, owners[places]

    def _validation_vectors(self, documents: ChunkBatch) -> Tensor:
        return self.model.encode_batch(documents).documents

    def _loss(self, vectors: Tensor, batch: PairBatch[ChunkBatch]) -> Tensor:
        if not self.options.contrastive:
            source, target, label = batch.targets
            return cosine_loss(vectors[source], vectors[target], label)
        if self.options.views != "apart" or not self.model.config.augmented:
            return self._contrast(vectors, batch.targets)
        places, owners = self._contrasted(batch.documents)
        whole = to_device(places >= len(places) - len(owners.unique()), vectors.device)
        documents, sections = (self._contrast(vectors[kind], batch.targets[kind][:, kind]) for kind in (whole, ~whole))
        weight = self.options.section_weight
        return (documents + weight * sections) / (1 + weight)

    def _contrast(self, vectors: Tensor, related: Tensor) -> Tensor:
        temperature = self.model.config.loss_temperature
        return supervised_contrastive_loss(vectors, related, temperature, self.options.normalised)


def connected(related: Bools) -> Bools:
    """The transitive closure of the links between documents: (documents, documents).

    >>> connected(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)).all()
    np.True_
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, component = connected_components(csr_array(related), directed=False)
    return np.asarray(np.equal.outer(component, component))
