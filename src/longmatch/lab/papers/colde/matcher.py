"""CoLDE as a matcher: opens the folder of a trained model."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.encoders.pretrained import checkpoint_errors
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.checkpoint import open_checkpoint, open_tokenizer, special_tokens
from longmatch.lab.matchers import TrainedMatcher
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.colde.encoding import ColdeEncoding, encode_tokens
from longmatch.lab.papers.colde.explanation import explain, within
from longmatch.matching.match import Match
from longmatch.units import Tokens


class ColdeMatcher(TrainedMatcher[ColdeEncoding]):
    """Section 4.2: the cosine of one vector per document, explained by sections and chunks.

    Documents are read whole; `max_tokens` truncates them, which `coverage` shows.
    """

    name = "colde"
    model: ColdeModel

    def __init__(
        self,
        model: ColdeModel,
        tokenizer: Any,
        max_tokens: int | None = None,
        precision: Precision | None = None,
    ) -> None:
        super().__init__(model, tokenizer, precision)
        self.layout = model.layout(special_tokens(tokenizer, self.name), max_tokens)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        max_tokens: int | None = None,
        device: str | None = None,
        precision: Precision | None = None,
    ) -> Self:
        """Open a folder written by `longmatch train colde`."""
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        with checkpoint_errors(f"The CoLDE model {folder}", "Name a folder written by `longmatch train colde`."):
            model: Any = open_checkpoint(ColdeModel, folder)
            tokenizer = open_tokenizer(str(folder))
        target = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        return cls(model.to(target), tokenizer, max_tokens, precision)

    @property
    def width(self) -> int:
        """Dimensions of a document vector."""
        return int(self.model.config.projection_width or self.model.summary_width)

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterator[ColdeEncoding]:
        """Encode documents independently."""
        return encode_tokens(self.model, self.layout, documents)

    def length(self, tokens: Tokens) -> int:
        """All tokens, or `max_tokens`."""
        return len(self.layout.truncate(tokens))

    def explain(self, a: ColdeEncoding, b: ColdeEncoding, collection: Tensor | None = None) -> Match:
        """Compare two documents at the three levels."""
        return explain(self.model, a, b, self.name)

    def within(self, document: Document) -> Match:
        """Compare a document's own sections and chunks with each other."""
        return within(self.encode([document])[0], self.name)
