"""Every baseline as a matcher: a trained model's folder, opened."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import PretrainedConfig

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Precision
from longmatch.encoders.pretrained import checkpoint_errors
from longmatch.encoders.tokenizer import open_tokenizer
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.baselines.siamese.arc import ArcModel
from longmatch.lab.baselines.siamese.batch import Layout
from longmatch.lab.baselines.siamese.dssm import DssmModel
from longmatch.lab.baselines.siamese.encoder import VectorModel
from longmatch.lab.baselines.siamese.encoding import VectorEncoding, WeighedSentence, attention_of, encode_tokens
from longmatch.lab.baselines.siamese.explanation import explain
from longmatch.lab.baselines.siamese.han import HanModel
from longmatch.lab.baselines.siamese.long import LongModel
from longmatch.lab.baselines.siamese.smash import SmashModel
from longmatch.lab.matchers import TrainedMatcher
from longmatch.matching.match import Match
from longmatch.matching.matcher import Progress
from longmatch.units import Tokens, tokenize

KINDS: tuple[type[VectorModel], ...] = (DssmModel, ArcModel, HanModel, SmashModel, LongModel)


class VectorMatcher(TrainedMatcher[VectorEncoding]):
    """The cosine of one vector a document, explained by what each sentence brings to it."""

    model: VectorModel
    tokens_per_batch = 32_768

    def __init__(self, model: VectorModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.name = str(model.config.model_type).removeprefix("longmatch-")

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None, precision: Precision | None = None) -> "VectorMatcher":
        """Open what `longmatch train` made of a baseline."""
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        with checkpoint_errors(f"The model {folder}", "Name a folder `longmatch train` made."):
            kind = PretrainedConfig.get_config_dict(folder)[0].get("model_type")
            found = next((k for k in KINDS if k.config_class.model_type == kind), None)
            if found is None:
                raise ValueError(f"its kind is {kind}")
            model: Any = found.from_pretrained(folder, dtype=torch.float32)
            tokenizer = open_tokenizer(str(folder))
        place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        return cls(model.to(place), tokenizer, precision)

    @property
    def layout(self) -> Layout:
        """How documents are cut."""
        return self.model.layout

    @property
    def width(self) -> int:
        """Numbers in a document's vector."""
        return self.model.width

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[VectorEncoding]:
        """Encode documents, each alone; if some are too long to be read whole, one warning says so."""
        encodings = super().encode(documents, progress)
        if any(encoding.coverage < 1 for encoding in encodings):
            limit = self.layout.max_tokens
            warnings.warn(
                f"The model {self.name} reads only the first {limit} tokens of a document.",
                LongmatchWarning,
                stacklevel=2,
            )
        return encodings

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterable[VectorEncoding]:
        """Encode documents, each alone."""
        return encode_tokens(self.model, documents)

    def length(self, tokens: Tokens) -> int:
        """As many tokens as the model reads."""
        return len(self.layout.read(tokens))

    def explain(self, a: VectorEncoding, b: VectorEncoding, collection: Tensor | None = None) -> Match:
        """Two documents compared; the probability is the one the model was trained to give."""
        with torch.no_grad():
            chance = self.model.chance((a.vector @ b.vector).to(self.model.device))
        return explain(a, b, self.name, float(chance), self.threshold)

    def attention(self, document: Document, words: int = 3) -> list[WeighedSentence]:
        """The sentences of a document with the attention paid to each and to its words (HAN and SMASH)."""
        found = attention_of(self.model, tokenize(document, self.tokenizer.backend_tokenizer), words)
        if not found:
            raise LongmatchError(f"The model {self.name} pays no attention to sentences. Train han or smash for that.")
        return found
