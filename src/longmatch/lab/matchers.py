"""Base classes of the laboratory's matchers: networks that encode each document alone, or read a pair's tokens."""

import os
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PretrainedConfig
from transformers.utils import logging

from longmatch.documents.document import Document
from longmatch.encoders.pretrained import checkpoint_errors
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.encoders.backbone import Precision, native_precision
from longmatch.lab.encoders.checkpoint import open_checkpoint, open_tokenizer
from longmatch.matching.matcher import Encoder, PairMatcher, Pairs, Progress, Scores
from longmatch.units import Tokens, tokenize


class TrainedNetwork:
    """A trained network and its tokenizer, in a precision that suits the device."""

    name: str
    Model: ClassVar[Any]  # its class
    model: Any

    def __init__(self, model: Any, tokenizer: Any, precision: Precision | None = None) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.device = next(model.parameters()).device
        self.precision: Precision = precision or native_precision(self.device)
        self._warned = False

    @classmethod
    def load(
        cls, folder: str | Path, device: str | None = None, precision: Precision | None = None, **settings: Any
    ) -> Self:
        """Open a folder written by `longmatch train`; `settings` are the matcher's own."""
        opened = open_trained(cls.Model, folder, device, getattr(cls, "name", ""))
        return cls(*opened, precision=precision, **settings)

    @property
    def threshold(self) -> float | None:
        """The score from which a pair counts as a match, chosen on validation pairs."""
        return getattr(self.model.config, "threshold", None)

    @property
    def reads(self) -> str:
        """What is read of a long document, for the warning that there is more; empty for no warning."""
        return ""

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16")

    def _warn_of_truncation(self) -> None:
        """Once."""
        if self.reads and not self._warned:
            self._warned = True
            warnings.warn(f"The model {self.name} reads {self.reads}.", LongmatchWarning, stacklevel=4)


class HasVector(Protocol):
    """An encoded document with a vector."""

    @property
    def vector(self) -> Tensor:
        """The document vector, of length 1: (width,)."""

    @property
    def coverage(self) -> float:
        """The share of the document that was read."""


V = TypeVar("V", bound=HasVector)


class TrainedMatcher(TrainedNetwork, Encoder[V, Tensor]):
    """Tokenises documents, encodes them in batches, compares them by cosine."""

    tokens_per_batch: ClassVar[int] = 500_000

    @property
    def width(self) -> int:
        """The size of a document vector."""
        return int(self.model.width)

    @abstractmethod
    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterable[V]:
        """Encode documents, each alone."""

    def length(self, tokens: Tokens) -> int:
        """The number of tokens read of a document."""
        return len(tokens)

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[V]:
        """Encode documents, each alone; warns once if one is not read whole."""
        encodings = self.encode_tokenised((tokens_of(document, self.tokenizer) for document in documents), progress)
        if any(encoding.coverage < 1 for encoding in encodings):
            self._warn_of_truncation()
        return encodings

    def encode_tokenised(self, documents: Iterable[Tokens], progress: Progress | None = None) -> list[V]:
        """Encode tokenised documents."""
        encodings: list[V] = []
        for batch in self._batches(documents):
            with self._autocast():
                encodings += self.encode_tokens(batch)
            if progress:
                progress(len(batch))
        return encodings

    def collect(self, encodings: Sequence[V]) -> Tensor:
        """The vectors of all documents: (documents, width)."""
        return torch.stack([e.vector for e in encodings])

    def score(self, query: V, collection: Tensor) -> Scores:
        """The cosine with every document."""
        return np.asarray((collection @ query.vector).double().numpy())

    def _batches(self, documents: Iterable[Tokens]) -> Iterator[list[Tokens]]:
        batch: list[Tokens] = []
        size = 0
        for tokens in documents:
            size += self.length(tokens)
            batch.append(tokens)
            if size > self.tokens_per_batch:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def open_trained(model_class: Any, folder: str | Path, device: str | None = None, name: str = "") -> tuple[Any, Any]:
    """A trained model, in float32 and on its device, and its tokenizer; `name` is for the error message."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with checkpoint_errors(f"The model {folder}", f"Name a folder written by `{f'longmatch train {name}'.rstrip()}`."):
        check_kind(model_class, folder)
        model = open_checkpoint(model_class, folder)
        tokenizer = open_tokenizer(str(folder))
    return model.to(torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))), tokenizer


def check_kind(model_class: Any, folder: str | os.PathLike[str]) -> None:
    """Raise a ValueError if a folder holds another of our models: transformers would draw the missing weights."""
    kind = PretrainedConfig.get_config_dict(folder)[0].get("model_type")
    if kind != getattr(getattr(model_class, "config_class", None), "model_type", kind):
        raise ValueError(f"it holds a model of type {kind}")


def match_probability(margins: Tensor) -> Tensor:
    """The probability of a match, from the logit of a match minus that of a non-match.

    Margins are rounded to four decimals: smaller differences between two copies of a document come from the batch they
    were read in, and must not decide between them.
    """
    return margins.round(decimals=4).sigmoid()


def tokens_of(document: Document, tokenizer: Any) -> Tokens:
    """A document's tokens; a document without any is an error."""
    tokens = tokenize(document, tokenizer.backend_tokenizer)
    if not len(tokens):
        raise LongmatchError(f"{document.source or document.id} holds no running text, so there is nothing to compare.")
    return tokens


class TokenPairMatcher(TrainedNetwork, PairMatcher):
    """A pair matcher that works on tokens, so callers that have tokenised the documents already can pass these."""

    @property
    def networks(self) -> Sequence[nn.Module]:
        """The networks that decide its scores."""
        return (self.model,)

    @property
    def needs_text(self) -> bool:
        """Whether `Tokens.document` must hold the full document; otherwise its id suffices."""
        return False

    @property
    @abstractmethod
    def pairs_per_batch(self) -> int:
        """The number of pairs read at a time."""

    @abstractmethod
    def score_tokens(self, pairs: Sequence[tuple[Tokens, Tokens]], for_ranking: bool = False) -> Scores:
        """The score of each pair; at most `pairs_per_batch` of them."""

    def score_pairs(self, pairs: Pairs, progress: Progress | None = None, for_ranking: bool = False) -> Scores:
        """The score of each pair; a document that occurs in consecutive pairs is tokenised once."""
        scores: list[Scores] = [np.zeros(0)]
        cache: dict[int, Tokens] = {}
        for start in range(0, len(pairs), self.pairs_per_batch):
            batch = pairs[start : start + self.pairs_per_batch]
            documents = {id(document): document for pair in batch for document in pair}
            cache = {key: cache.get(key) or tokens_of(document, self.tokenizer) for key, document in documents.items()}
            scores.append(self.score_tokens([(cache[id(a)], cache[id(b)]) for a, b in batch], for_ranking))
            if progress:
                progress(len(batch))
        return np.concatenate(scores)
