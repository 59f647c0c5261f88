"""The siamese baseline of the papers (S-BERT, MatchBERT): one BERT over the first 512 tokens of either document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from torch import Tensor

from longmatch.encoders.backbone import Backbone
from longmatch.encoders.flat import Flat, mean_of_tokens
from longmatch.encoders.pretrained import Pooling, locate
from longmatch.encoders.saving import save_sentence_model
from longmatch.encoders.tokenizer import open_tokenizer, special_tokens
from longmatch.lab.losses import pair_cross_entropy_loss, supervised_contrastive_loss
from longmatch.lab.training.bi_encoder_recipe import BiEncoderRecipe, PairBatch
from longmatch.lab.training.limits import above_zero, at_least
from longmatch.lab.training.settings import TrainingSettings
from longmatch.units import Tokens


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

    @property
    def contrastive(self) -> bool:
        """Rather than pair by pair."""
        return self.loss == "contrastive"


@dataclass(frozen=True)
class Openings:
    """The first tokens of each document, between the special ones."""

    limit: int  # tokens, special ones not counted
    specials: tuple[int, int]

    def lay_out(self, documents: Sequence[Tokens]) -> Flat:
        """One piece a document."""
        return Flat.of([tokens.ids[: self.limit] for tokens in documents], self.specials)


class SiameseRecipe(BiEncoderRecipe[Flat]):
    """The model is the backbone itself."""

    name: ClassVar[str] = "first"
    Settings: ClassVar[type] = SiameseSettings
    defaults: ClassVar[Mapping[str, Any]] = {"documents": 64}
    options: SiameseSettings
    layout: Openings

    @classmethod
    def new_model(cls, settings: TrainingSettings, options: SiameseSettings) -> tuple[Any, Any]:
        """The backbone as it is."""
        backbone = Backbone.load(options.backbone, device="cpu", precision="float32")
        return backbone.model, open_tokenizer(locate(options.backbone))

    @property
    def limit(self) -> int:
        """Tokens read of a document, special ones not counted."""
        return self.layout.limit

    def save(self, folder: Path) -> None:
        """A sentence-transformers folder that reads as many tokens as training did."""
        save_sentence_model(folder, self.model, self.tokenizer, self.limit + 2)

    def _layout(self) -> Openings:
        specials = special_tokens(self.tokenizer, locate(self.options.backbone))
        plain = Pooling()  # whatever length the checkpoint was meant for
        backbone = Backbone(self.model, self.tokenizer.backend_tokenizer, plain, specials, self.name)
        limits = (self.options.opening - 2, backbone.max_tokens, self.settings.max_tokens)
        return Openings(min(limit for limit in limits if limit is not None), specials)

    def _vectors(self, documents: Flat) -> Tensor:
        def encode(ids: Tensor, mask: Tensor, _: Tensor) -> Tensor:
            return mean_of_tokens(self.model(input_ids=ids, attention_mask=mask).last_hidden_state, mask)

        return documents.each(encode)

    def _loss(self, vectors: Tensor, batch: PairBatch[Flat]) -> Tensor:
        if self.options.contrastive:
            return supervised_contrastive_loss(vectors, batch.targets, self.options.loss_temperature)
        source, target, label = batch.targets
        return pair_cross_entropy_loss(vectors[source], vectors[target], label, self.options.scale, self.options.middle)
