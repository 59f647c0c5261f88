"""SMITH as a matcher: a trained model's folder, opened."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Precision, native_precision
from longmatch.encoders.tokenizer import special_tokens
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.matching.match import Match
from longmatch.models.matcher import Encoder, Progress, Scores
from longmatch.models.smith.encoding import SmithEncoding, encode_tokens
from longmatch.models.smith.explain import explain
from longmatch.models.smith.model import SmithModel
from longmatch.models.smith.opening import open_smith
from longmatch.models.smith.reading import layout
from longmatch.units import Tokens, tokenize

TOGETHER = 64  # documents encoded together


class SmithMatcher(Encoder[SmithEncoding, Tensor]):
    """The cosine of one vector a document, explained by its blocks.

    As many blocks are read as the model has places for; `coverage` says what share of a document that is.
    """

    name = "smith"

    def __init__(self, model: SmithModel, tokenizer: Any, precision: Precision | None = None) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.layout = layout(model, special_tokens(tokenizer, self.name))
        self.device = next(model.parameters()).device
        self.precision: Precision = precision or native_precision(self.device)
        self._warned = False

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None, precision: Precision | None = None) -> "SmithMatcher":
        """Open what `longmatch train smith` or `longmatch train smith-pretrain` made."""
        model, tokenizer = open_smith(folder)
        place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        moved: Any = model
        return cls(moved.to(place), tokenizer, precision)

    @property
    def width(self) -> int:
        """Numbers in a document's vector."""
        return int(self.model.width)

    @property
    def threshold(self) -> float | None:
        """The cosine from which two documents belong together, as chosen on validation pairs."""
        found: float | None = self.model.config.threshold
        return found

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[SmithEncoding]:
        """Encode documents, each alone, as far as the model reads."""
        encodings: list[SmithEncoding] = []
        for batch in self._batches(documents):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
                encodings += encode_tokens(self.model, self.layout, batch)
            if progress:
                progress(len(batch))
        self._warn(encodings)
        return encodings

    def collect(self, encodings: Sequence[SmithEncoding]) -> Tensor:
        """The vectors of all documents: (documents, width)."""
        return torch.stack([e.vector for e in encodings])

    def score(self, query: SmithEncoding, collection: Tensor) -> Scores:
        """The cosine with every document."""
        return np.asarray((collection @ query.vector).double().numpy())

    @torch.no_grad()
    def explain(self, a: SmithEncoding, b: SmithEncoding, collection: Tensor | None = None) -> Match:
        """Two documents compared at the levels of document, section and block."""
        return explain(self.model, a, b, self.name)

    def _batches(self, documents: Sequence[Document]) -> Iterator[list[Tokens]]:
        for start in range(0, len(documents), TOGETHER):
            batch = [tokenize(d, self.tokenizer.backend_tokenizer) for d in documents[start : start + TOGETHER]]
            for tokens in batch:
                if not len(tokens):
                    name = tokens.document.source or tokens.document.id
                    raise LongmatchError(f"{name} holds no running text, so there is nothing to compare.")
            yield batch

    def _warn(self, encodings: Sequence[SmithEncoding]) -> None:
        """Once, when a document was read only in part."""
        if not self._warned and any(e.coverage < 1 for e in encodings):
            self._warned = True
            most = int(self.model.config.max_blocks)
            tails = "; of longer sentences it reads the beginning" if self.layout.cut_long else ""
            warnings.warn(
                f"The model {self.name} reads the first {most} blocks of a document, "
                f"{most * self.layout.limit:,} tokens at most{tails}.",
                LongmatchWarning,
                stacklevel=3,
            )
