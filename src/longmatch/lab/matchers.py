"""What the matchers of the laboratory share: networks that encode each document alone, or read the tokens of a pair."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Precision, native_precision
from longmatch.errors import LongmatchError
from longmatch.matching.align import Floats, Ints
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.pair_matcher import PairMatcher, Pairs
from longmatch.units import Tokens, tokenize


class HasVector(Protocol):
    """What a network knows of one document, its vector among it."""

    @property
    def vector(self) -> Tensor:
        """Of length 1: (width,)."""


V = TypeVar("V", bound=HasVector)


class TrainedMatcher(Encoder[V, Tensor]):
    """Documents are tokenised, encoded many at a time in a precision that suits the device, compared by cosine."""

    model: Any
    together: ClassVar[int] = 500_000  # tokens of documents encoded at a time

    def __init__(self, model: Any, tokenizer: Any, precision: Precision | None = None) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.device = next(model.parameters()).device
        self.precision: Precision = precision or native_precision(self.device)

    @abstractmethod
    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterable[V]:
        """Encode documents, each alone."""

    def length(self, tokens: Tokens) -> int:
        """How many tokens of a document are read."""
        return len(tokens)

    @property
    def threshold(self) -> float | None:
        """The cosine from which two documents belong together, as chosen on validation pairs."""
        found: float | None = self.model.config.threshold
        return found

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[V]:
        """Encode documents, each alone."""
        return self.encode_tokenised((tokens_of(document, self.tokenizer) for document in documents), progress)

    def encode_tokenised(self, documents: Iterable[Tokens], progress: Progress | None = None) -> list[V]:
        """Encode documents that are tokenised already."""
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
            if size > self.together:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def tokens_of(document: Document, tokenizer: Any) -> Tokens:
    """A document's tokens; to be compared it must have some."""
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
    """One that scores a pair by the tokens of its documents: whoever has them already need not make them again."""

    tokenizer: Any

    @property
    def needs_text(self) -> bool:
        """Whether the documents that the tokens stand for have to be whole; else nothing but their ids is read."""
        return False

    @property
    @abstractmethod
    def together(self) -> int:
        """Pairs that are read at a time."""

    @abstractmethod
    def score_tokens(self, pairs: Sequence[tuple[Tokens, Tokens]], for_ranking: bool = False) -> Scores:
        """The score of each pair, `together` of them at the most."""

    def score_pairs(self, pairs: Pairs, progress: Progress | None = None, for_ranking: bool = False) -> Scores:
        """The score of each pair; a document that stands in several, one after the other, is tokenised once."""
        found: list[Scores] = [np.zeros(0)]
        known: dict[int, Tokens] = {}
        for start in range(0, len(pairs), self.together):
            some = pairs[start : start + self.together]
            each = {id(document): document for pair in some for document in pair}
            known = {key: known.get(key) or tokens_of(document, self.tokenizer) for key, document in each.items()}
            found.append(self.score_tokens([(known[id(a)], known[id(b)]) for a, b in some], for_ranking))
            if progress:
                progress(len(some))
        return np.concatenate(found)
