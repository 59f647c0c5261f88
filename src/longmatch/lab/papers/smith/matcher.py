"""SMITH as a matcher: opens the folder of a trained model."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.errors import LongmatchWarning
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.matchers import TrainedMatcher
from longmatch.lab.papers.smith.encoder import SmithModel, open_smith
from longmatch.lab.papers.smith.encoding import SmithEncoding, encode_tokens
from longmatch.lab.papers.smith.explanation import explain
from longmatch.matching.match import Match
from longmatch.matching.matcher import Progress
from longmatch.units import Tokens


class SmithMatcher(TrainedMatcher[SmithEncoding]):
    """The cosine of one vector per document, explained by its blocks.

    Documents are truncated to the model's number of blocks; `coverage` is the share that was read.
    """

    name = "smith"
    model: SmithModel

    def __init__(self, model: SmithModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.layout = model.layout(special_tokens(tokenizer, self.name))
        self._warned = False

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None, precision: Precision | None = None) -> "SmithMatcher":
        """Open a folder written by `longmatch train smith` or `longmatch train smith-pretrain`."""
        model: Any
        model, tokenizer = open_smith(folder)
        target = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        return cls(model.to(target), tokenizer, precision)

    @property
    def width(self) -> int:
        """Dimensions of a document vector."""
        return int(self.model.width)

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[SmithEncoding]:
        """Encode documents independently, and warn once if one is truncated."""
        encodings = super().encode(documents, progress)
        self._warn(encodings)
        return encodings

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterable[SmithEncoding]:
        """Encode documents independently."""
        return encode_tokens(self.model, self.layout, documents)

    @torch.no_grad()
    def explain(self, a: SmithEncoding, b: SmithEncoding, collection: Tensor | None = None) -> Match:
        """Compare two documents at the levels of document, section and block."""
        return explain(self.model, a, b, self.name)

    def _warn(self, encodings: Sequence[SmithEncoding]) -> None:
        """Warn the first time a document is truncated."""
        if not self._warned and any(e.coverage < 1 for e in encodings):
            self._warned = True
            blocks = int(self.model.config.max_blocks)
            cut = "; longer sentences are truncated" if self.layout.cut_long else ""
            warnings.warn(
                f"The model {self.name} reads the first {blocks} blocks of a document, "
                f"{blocks * self.layout.limit:,} tokens at most{cut}.",
                LongmatchWarning,
                stacklevel=3,
            )
