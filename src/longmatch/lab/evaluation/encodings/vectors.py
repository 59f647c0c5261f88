"""The layer of trained encoders that score by one vector per document."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from torch import Tensor, nn

from longmatch.documents.document import Document
from longmatch.lab.evaluation.provenance import code_of
from longmatch.lab.matchers import TrainedMatcher
from longmatch.lab.store.digests import code_digest, weights_digest
from longmatch.lab.store.layer import Arrays, Layer, Shapes, Unhandled
from longmatch.lab.store.tokens import NO_SENTENCE, TokenLayer, restore_tokens
from longmatch.matching.matcher import Progress, Scores

NO_EFFECT = ("_name_or_path", "transformers_version", "architectures", "threshold")  # config keys that change no vector


class HasVector(Protocol):
    """An encoding whose vector alone decides the score."""

    @property
    def vector(self) -> Tensor:
        """(width,)"""


@runtime_checkable
class VectorEncoder(Protocol):
    """An Encoder that makes one vector per document, and whose collection is those vectors: (documents, width)."""

    model: nn.Module  # the network whose weights the vectors depend on

    @property
    def width(self) -> int:
        """Numbers in a document's vector."""

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> Sequence[HasVector]:
        """Encode documents, each by itself."""

    def score(self, query: Any, collection: Tensor) -> Scores:
        """The score of a query's vector with every document's."""


def network_facts(network: nn.Module) -> dict[str, Any]:
    """What a network computes depends on besides the code: its weights and its settings."""
    config: dict[str, Any] = cast(Any, network).config.to_dict() if hasattr(network, "config") else {}
    settings = {key: value for key, value in config.items() if key not in NO_EFFECT}
    return {"weights": weights_digest(network), "settings": settings}


class DocumentVectorLayer(Layer):
    """One vector per document."""

    name = "vectors"

    def __init__(self, matcher: VectorEncoder) -> None:
        self.matcher = matcher
        if isinstance(matcher, TrainedMatcher):
            self.base, self.reads_documents = TokenLayer(matcher.tokenizer.backend_tokenizer), False

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The weights themselves, the network's settings, and the code that reads; not where the folder lies."""
        weights = next(self.matcher.model.parameters()).dtype  # the precision, unless the matcher states another
        return {
            "matcher": type(self.matcher).__name__,
            **network_facts(self.matcher.model),
            "precision": str(getattr(self.matcher, "precision", weights)).removeprefix("torch."),
            "layout": str(getattr(self.matcher, "layout", "")),  # how documents are cut, where the matcher says so
            "code": code_digest("documents", "units", "encoders", *code_of(self.matcher)),
        }

    @property
    def shapes(self) -> Shapes:
        """One vector per document."""
        return {"vector": (np.float32, (self.matcher.width,))}

    def make(self, documents: Sequence[Document], below: Sequence[Arrays]) -> list[Arrays]:
        """Encode documents, from their tokens where the matcher can."""
        found: Sequence[HasVector]
        if isinstance(self.matcher, TrainedMatcher):
            found = self.matcher.encode_tokenised(map(restore_tokens, below, documents))
        else:
            if not all(any(True for _ in document.sentences) for document in documents):
                raise Unhandled(NO_SENTENCE)
            found = self.matcher.encode(documents)
        return [{"vector": e.vector.detach().float().cpu()[None].numpy()} for e in found]
