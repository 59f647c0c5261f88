"""The matcher of all siamese baselines: opens a trained model's folder."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PretrainedConfig

from longmatch.documents.document import Document
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.baselines.siamese.arc import ArcModel
from longmatch.lab.baselines.siamese.batch import SentenceLayout
from longmatch.lab.baselines.siamese.dssm import DssmModel
from longmatch.lab.baselines.siamese.encoder import VectorModel
from longmatch.lab.baselines.siamese.encoding import AttendedSentence, VectorEncoding, attention_of, encode_tokens
from longmatch.lab.baselines.siamese.explanation import explain
from longmatch.lab.baselines.siamese.han import HanModel
from longmatch.lab.baselines.siamese.longformer import LongModel
from longmatch.lab.baselines.siamese.smash import SmashModel
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.checkpoint import open_checkpoint
from longmatch.lab.matchers import TrainedMatcher, open_trained
from longmatch.matching.match import Match
from longmatch.matching.matcher import Progress
from longmatch.units import Tokens, tokenize

MODELS: tuple[type[VectorModel], ...] = (DssmModel, ArcModel, HanModel, SmashModel, LongModel)


class VectorMatcher(TrainedMatcher[VectorEncoding]):
    """The cosine of one vector per document, explained by each sentence's contribution to it."""

    model: VectorModel
    tokens_per_batch = 32_768

    def __init__(self, model: VectorModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.name = str(model.config.model_type).removeprefix("longmatch-")
        self._warned = False

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None, precision: Precision | None = None) -> "VectorMatcher":
        """Open a model folder written by `longmatch train`."""
        return cls(*open_trained(_SavedModel, folder, device), precision)

    @property
    def layout(self) -> SentenceLayout:
        """How documents are laid out."""
        return self.model.layout

    @property
    def width(self) -> int:
        """The size of a document vector."""
        return self.model.width

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[VectorEncoding]:
        """Encode documents; warns once if some are too long to be read whole."""
        encodings = super().encode(documents, progress)
        if not self._warned and any(encoding.coverage < 1 for encoding in encodings):
            self._warned, limit = True, self.layout.max_tokens
            warnings.warn(
                f"The model {self.name} reads only the first {limit} tokens of a document.",
                LongmatchWarning,
                stacklevel=2,
            )
        return encodings

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterable[VectorEncoding]:
        """Encode tokenised documents."""
        return encode_tokens(self.model, documents)

    def length(self, tokens: Tokens) -> int:
        """The number of tokens the model reads."""
        return len(self.layout.read(tokens))

    def explain(self, a: VectorEncoding, b: VectorEncoding, collection: Tensor | None = None) -> Match:
        """The match of two documents, with the probability that the model was trained to predict."""
        with torch.no_grad():
            probability = self.model.probability((a.vector @ b.vector).to(self.model.device))
        return explain(a, b, self.name, float(probability), self.threshold)

    def attention(self, document: Document, words: int = 3) -> list[AttendedSentence]:
        """The sentences of a document with their attention weights, and the top `words` words (HAN and SMASH)."""
        sentences = attention_of(self.model, tokenize(document, self.tokenizer.backend_tokenizer), words)
        if not sentences:
            raise LongmatchError(f"The model {self.name} has no attention over sentences. Train han or smash for that.")
        return sentences


class _SavedModel:
    """Opens a folder with the model class that its config names."""

    @staticmethod
    def from_pretrained(folder: str | Path, **_: Any) -> VectorModel:
        model_type = PretrainedConfig.get_config_dict(folder)[0].get("model_type")
        model_class: Any = next((c for c in MODELS if c.config_class.model_type == model_type), None)
        if model_class is None:
            raise ValueError(f"its model type is {model_type}")
        model: VectorModel = open_checkpoint(model_class, folder)
        return model
