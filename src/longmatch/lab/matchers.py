"""Base classes of the laboratory's matchers: networks that encode each document alone, or read a pair's tokens."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.encoders.pretrained import checkpoint_errors
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import Precision, native_precision
from longmatch.lab.encoders.checkpoint import open_checkpoint, open_tokenizer
from longmatch.matching.align import Floats, Ints
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.pair_matcher import PairMatcher, Pairs
from longmatch.units import Tokens, tokenize


class HasVector(Protocol):
    """An encoded document with a vector."""

    @property
    def vector(self) -> Tensor:
        """The document vector, of length 1: (width,)."""


V = TypeVar("V", bound=HasVector)


class TrainedMatcher(Encoder[V, Tensor]):
    """Tokenises documents, encodes them in batches and in a precision that suits the device, compares by cosine."""

    model: Any
    tokens_per_batch: ClassVar[int] = 500_000

    def __init__(self, model: Any, tokenizer: Any, precision: Precision | None = None) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.device = next(model.parameters()).device
        self.precision: Precision = precision or native_precision(self.device)

    @abstractmethod
    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterable[V]:
        """Encode documents, each alone."""

    def length(self, tokens: Tokens) -> int:
        """The number of tokens read of a document."""
        return len(tokens)

    @property
    def threshold(self) -> float | None:
        """The cosine from which a pair counts as a match, chosen on validation pairs."""
        threshold: float | None = self.model.config.threshold
        return threshold

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[V]:
        """Encode documents, each alone."""
        return self.encode_tokenised((tokens_of(document, self.tokenizer) for document in documents), progress)

    def encode_tokenised(self, documents: Iterable[Tokens], progress: Progress | None = None) -> list[V]:
        """Encode tokenised documents."""
        encodings: list[V] = []
        for batch in self._batches(documents):
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
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
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with checkpoint_errors(f"The model {folder}", f"Name a folder written by `{f'longmatch train {name}'.rstrip()}`."):
        model = open_checkpoint(model_class, folder)
        tokenizer = open_tokenizer(str(folder))
    place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    return model.to(place), tokenizer


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


MOST_RUNS = 128  # pieces left out one at a time; in longer documents runs of neighbouring pieces


def ablation_contributions(
    vector: Tensor, other: Tensor, pieces: int, subset_vectors: Callable[[Sequence[Ints]], Tensor]
) -> Floats:
    """How much each piece of a document contributes to its cosine with another, at least 0: (pieces,).

    The mean of the two ends of the Shapley value: the cosine lost without the piece, and the cosine of the piece alone.
    Pieces left out together share their contribution. `vector` and `other` are the unit vectors of both documents
    (width,); `subset_vectors` recomputes the first from subsets of its pieces: (subsets, width).
    """
    everything = np.arange(pieces)
    runs = np.array_split(everything, min(pieces, MOST_RUNS))
    sizes = [len(run) for run in runs]
    without = subset_vectors([np.delete(everything, run) for run in runs]) @ other
    alone = subset_vectors(runs) @ other
    gains = ((vector @ other - without) + alone).clamp(min=0).double().numpy() / 2
    return np.repeat(gains / sizes, sizes)


class TokenPairMatcher(PairMatcher):
    """A pair matcher that works on tokens, so callers that have tokenised the documents already can pass these."""

    tokenizer: Any

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
