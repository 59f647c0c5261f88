"""CoLDE as a matcher: a trained model's folder, opened."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Precision, native_precision
from longmatch.encoders.tokenizer import open_tokenizer, special_tokens
from longmatch.errors import LongmatchError
from longmatch.matching.match import Match
from longmatch.models.colde.encoding import ColdeEncoding, encode_tokens
from longmatch.models.colde.explain import explain, within
from longmatch.models.colde.model import ColdeModel
from longmatch.models.colde.reading import layout
from longmatch.models.matcher import Encoder, Progress, Scores
from longmatch.units import Tokens, tokenize

TOKENS = 500_000  # of documents encoded together


class ColdeMatcher(Encoder[ColdeEncoding, Tensor]):
    """The cosine of one vector a document, explained by its sections and chunks.

    Documents are read whole; `max_tokens` cuts them off, and then `coverage` says so.
    """

    name = "colde"

    def __init__(
        self,
        model: ColdeModel,
        tokenizer: Any,
        max_tokens: int | None = None,
        precision: Precision | None = None,
    ) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.layout = layout(model, special_tokens(tokenizer, self.name), max_tokens)
        self.device = next(model.parameters()).device
        self.precision: Precision = precision or native_precision(self.device)

    @classmethod
    def load(
        cls,
        folder: str | Path,
        max_tokens: int | None = None,
        device: str | None = None,
        precision: Precision | None = None,
    ) -> "ColdeMatcher":
        """Open what `longmatch train colde` made."""
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            model: Any = ColdeModel.from_pretrained(folder)
            tokenizer = open_tokenizer(str(folder))
        except (OSError, ValueError, SafetensorError) as error:
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise LongmatchError(
                f"The CoLDE model {folder} cannot be opened ({reason}). Name a folder `longmatch train colde` made."
            ) from error
        place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        return cls(model.to(place), tokenizer, max_tokens, precision)

    @property
    def width(self) -> int:
        """Numbers in a document's vector."""
        return int(self.model.config.projection_width)

    @property
    def threshold(self) -> float | None:
        """The cosine from which two documents belong together, as chosen on validation pairs."""
        found: float | None = self.model.config.threshold
        return found

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[ColdeEncoding]:
        """Encode documents, each alone, whole."""
        encodings: list[ColdeEncoding] = []
        for batch in self._batches(documents):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
                encodings += encode_tokens(self.model, self.layout, batch)
            if progress:
                progress(len(batch))
        return encodings

    def collect(self, encodings: Sequence[ColdeEncoding]) -> Tensor:
        """The vectors of all documents: (documents, width)."""
        return torch.stack([e.vector for e in encodings])

    def score(self, query: ColdeEncoding, collection: Tensor) -> Scores:
        """The cosine with every document."""
        return np.asarray((collection @ query.vector).double().numpy())

    def explain(self, a: ColdeEncoding, b: ColdeEncoding, collection: Tensor | None = None) -> Match:
        """Two documents compared at the three levels."""
        return explain(self.model, a, b, self.name)

    def within(self, document: Document) -> Match:
        """A document's own sections and chunks against each other."""
        return within(self.encode([document])[0], self.name)

    def _batches(self, documents: Sequence[Document]) -> Iterator[list[Tokens]]:
        batch: list[Tokens] = []
        size = 0
        for document in documents:
            tokens = tokenize(document, self.tokenizer.backend_tokenizer)
            size += len(self.layout.read(tokens))
            batch.append(tokens)
            if size > TOKENS:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch
