"""SMITH as a matcher: a trained model's folder, opened."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Precision
from longmatch.encoders.tokenizer import special_tokens
from longmatch.errors import LongmatchWarning
from longmatch.lab.matchers import TrainedMatcher
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.papers.smith.encoding import SmithEncoding, encode_tokens
from longmatch.lab.papers.smith.explanation import explain
from longmatch.lab.papers.smith.opening import open_smith
from longmatch.lab.papers.smith.reading import layout
from longmatch.matching.match import Match
from longmatch.matching.matcher import Progress
from longmatch.units import Tokens


class SmithMatcher(TrainedMatcher[SmithEncoding]):
    """The cosine of one vector a document, explained by its blocks.

    As many blocks are read as the model has places for; `coverage` says what share of a document that is.
    """

    name = "smith"
    model: SmithModel

    def __init__(self, model: SmithModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.layout = layout(model, special_tokens(tokenizer, self.name))
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

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[SmithEncoding]:
        """Encode documents, each alone, as far as the model reads."""
        encodings = super().encode(documents, progress)
        self._warn(encodings)
        return encodings

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterable[SmithEncoding]:
        """Encode documents, each alone."""
        return encode_tokens(self.model, self.layout, documents)

    @torch.no_grad()
    def explain(self, a: SmithEncoding, b: SmithEncoding, collection: Tensor | None = None) -> Match:
        """Two documents compared at the levels of document, section and block."""
        return explain(self.model, a, b, self.name)

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
