"""What every baseline is: a network that makes one vector of a document."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from longmatch.lab.baselines.siamese.batch import Layout, Texts
from longmatch.lab.baselines.siamese.config import VectorConfig


@dataclass(frozen=True)
class Reading:
    """The vectors of documents and, where they were asked for, what their sentences bring to them.

    The parts of a document's sentences add up to its vector (DSSM alone, which adds nothing up, says what the vector
    loses without the sentence). So the cosine of two documents is a sum over the sentences of either.
    """

    vectors: Tensor  # (documents, width), of any length
    parts: Tensor | None = None  # (sentences, width)
    sentences: Tensor | None = None  # (sentences,) attention paid to each; those of a document sum to 1
    words: Tensor | None = None  # (tokens,) attention paid to each token; those of a sentence sum to 1


class VectorModel(PreTrainedModel):  # type: ignore[misc]
    """One vector a document; two documents are as alike as the cosine of theirs.

    The chance that two belong together is sigmoid(scale * (cosine - middle)), and both numbers are learned (SMITH's
    fine-tuning, section 3.3, as its cosine alone cannot become every chance).
    """

    config_class: type[VectorConfig] = VectorConfig
    base_model_prefix = "baseline"
    in_full: ClassVar[bool] = True  # computed in float32 whatever the rest is: it is small, and mostly recurrences

    def __init__(self, config: VectorConfig) -> None:
        super().__init__(config)
        self.scale = nn.Parameter(torch.tensor([float(config.scale)]))
        self.middle = nn.Parameter(torch.tensor([float(config.middle)]))

    @classmethod
    @abstractmethod
    def new(cls, backbone: str | None, tokenizer: Any, **settings: Any) -> Self:
        """An untrained model for a backbone's tokenizer, with as much of its weights as the model can use."""

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers in a vector."""

    @abstractmethod
    def read(self, texts: Texts, explained: bool) -> Reading:
        """The vectors of documents; if they are to be explained, with all there is to explain them."""

    def forward(self, texts: Texts, explained: bool = False) -> Reading:
        """Read documents; the same numbers come out whichever documents are read together."""
        kind = texts.device.type
        allowed = torch.is_autocast_enabled(kind) and not self.in_full
        with torch.autocast(kind, torch.get_autocast_dtype(kind), enabled=allowed, cache_enabled=False):
            return self.read(texts, explained)

    @property
    def layout(self) -> Layout:
        """How documents are cut for it."""
        return Layout(self.config.max_tokens, self.config.sentence_tokens)

    def chance(self, cosine: Tensor) -> Tensor:
        """How likely two documents of this cosine belong together."""
        return torch.sigmoid(self.scale * (cosine - self.middle))

    def _init_weights(self, module: nn.Module) -> None:
        """Torch's own initial values stay: those for deep transformers are too small for such networks."""
