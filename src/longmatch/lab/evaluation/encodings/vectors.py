"""The layer of trained encoders that score by one vector a document."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from torch import Tensor, nn

from longmatch.documents.document import Document
from longmatch.lab.evaluation.code import code_digest, home_of
from longmatch.lab.evaluation.encodings.layer import Arrays, Layer
from longmatch.lab.evaluation.encodings.layers import require_sentences, weights_digest
from longmatch.lab.evaluation.encodings.tokens import DocumentTokens, restore_tokens
from longmatch.lab.matchers import TrainedMatcher
from longmatch.matching.matcher import Progress, Scores

UNTOLD = ("_name_or_path", "transformers_version", "architectures", "threshold")  # of a config: changes no vector


class HasVector(Protocol):
    """An encoding, of which the vector alone decides the score."""

    @property
    def vector(self) -> Tensor:
        """(width,)"""


@runtime_checkable
class VectorEncoder(Protocol):
    """An Encoder that makes one vector of a document, and whose collection is those vectors: (documents, width)."""

    model: nn.Module  # the network whose weights the vectors depend on

    @property
    def width(self) -> int:
        """Numbers in a document's vector."""

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> Sequence[HasVector]:
        """Encode documents, each alone."""

    def score(self, query: Any, collection: Tensor) -> Scores:
        """The score of a query's vector with every document's."""


def precision_of(matcher: VectorEncoder) -> str:
    """What it computes in: as it says, else the type of its weights."""
    kind = next(matcher.model.parameters()).dtype
    return str(getattr(matcher, "precision", kind)).removeprefix("torch.")


def network_facts(network: nn.Module) -> dict[str, Any]:
    """What a network computes depends on besides the code: its weights and its settings."""
    config: dict[str, Any] = cast(Any, network).config.to_dict() if hasattr(network, "config") else {}
    settings = {key: value for key, value in config.items() if key not in UNTOLD}
    return {"weights": weights_digest(network), "settings": settings}


class Vectors(Layer):
    """One vector a document."""

    name = "vectors"

    def __init__(self, matcher: VectorEncoder) -> None:
        self.matcher = matcher
        if isinstance(matcher, TrainedMatcher):
            self.base, self.reads_documents = DocumentTokens(matcher.tokenizer.backend_tokenizer), False

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The weights themselves, the network's settings, and the code that reads; not where the folder lies."""
        return {
            "matcher": type(self.matcher).__name__,
            **network_facts(self.matcher.model),
            "precision": precision_of(self.matcher),
            "layout": str(getattr(self.matcher, "layout", "")),  # how documents are cut, where the matcher says so
            "code": code_digest("documents", "units", "encoders", *home_of(self.matcher)),
        }

    @property
    def shapes(self) -> Mapping[str, Any]:
        """One vector a document."""
        return {"vector": (np.float32, (self.matcher.width,))}

    def make(
        self, documents: Sequence[Document], below: Sequence[Arrays], progress: Progress | None = None
    ) -> list[Arrays]:
        """Encode, from tokens where the matcher can."""
        found: Sequence[HasVector]
        if isinstance(self.matcher, TrainedMatcher):
            found = self.matcher.encode_tokenised(map(restore_tokens, below, documents), progress)
        else:
            require_sentences(documents)
            found = self.matcher.encode(documents, progress)
        return [{"vector": e.vector.detach().float().cpu()[None].numpy()} for e in found]
