"""Base class of the siamese networks: one vector per document."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from longmatch.lab.baselines.siamese.batch import SentenceLayout, TextBatch
from longmatch.lab.baselines.siamese.config import VectorConfig


@dataclass(frozen=True)
class VectorOutput:
    """The vectors of documents and, if requested, the contributions of their sentences (`parts`).

    The parts of a document's sentences add up to its vector, so the cosine of two documents is a sum over the sentences
    of either. Only DSSM is not additive: there a part is the change of the vector when the sentence is removed.
    """

    vectors: Tensor  # (documents, width), not normalised
    parts: Tensor | None = None  # (sentences, width)
    sentences: Tensor | None = None  # (sentences,) attention weights; sum to 1 per document
    words: Tensor | None = None  # (tokens,) attention weights; sum to 1 per sentence


class VectorModel(PreTrainedModel):  # type: ignore[misc]
    """One vector per document; the score of two documents is the cosine of theirs.

    The probability of a match is sigmoid(scale * (cosine - middle)) with learned scale and middle (SMITH's fine-tuning,
    section 3.3, whose cosine alone cannot express every probability).
    """

    config_class: type[VectorConfig] = VectorConfig
    base_model_prefix = "baseline"
    full_precision: ClassVar[bool] = True  # float32 even under autocast: small, mostly recurrent

    def __init__(self, config: VectorConfig) -> None:
        super().__init__(config)
        self.scale = nn.Parameter(torch.tensor([float(config.scale)]))
        self.middle = nn.Parameter(torch.tensor([float(config.middle)]))

    @classmethod
    @abstractmethod
    def new(cls, backbone: str | None, tokenizer: Any, **settings: Any) -> Self:
        """An untrained model for a backbone's tokenizer, with those of its weights that the model can use."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The size of a document vector."""

    @abstractmethod
    def read(self, texts: TextBatch, with_parts: bool) -> VectorOutput:
        """The vectors of documents; with `with_parts`, also all that an explanation needs."""

    def forward(self, texts: TextBatch, with_parts: bool = False) -> VectorOutput:
        """Encode documents; the result does not depend on which documents are batched together."""
        kind = texts.device.type
        allowed = torch.is_autocast_enabled(kind) and not self.full_precision
        with torch.autocast(kind, torch.get_autocast_dtype(kind), enabled=allowed, cache_enabled=False):
            return self.read(texts, with_parts)

    @property
    def layout(self) -> SentenceLayout:
        """How documents are laid out for the model."""
        return SentenceLayout(self.config.max_tokens, self.config.sentence_tokens)

    def probability(self, cosine: Tensor) -> Tensor:
        """The probability that two documents with this cosine match."""
        return torch.sigmoid(self.scale * (cosine - self.middle))

    def _init_weights(self, module: nn.Module) -> None:
        """Keep torch's initial values: those for deep transformers are too small for such networks."""
