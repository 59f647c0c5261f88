"""Layers that several models share: words, vectors of sentences, documents and openings; and the vectors of trained
encoders that score by one a document.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from longmatch.default.meaning import AnyBackbone, encode_sentences
from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.encoders.token_vectors import TokenVectors
from longmatch.lab.baselines.pooled.matcher import PooledMatcher
from longmatch.lab.evaluation.provenance import code_of
from longmatch.lab.matchers import TrainedMatcher
from longmatch.lab.store.digests import backbone_facts, code_digest, weights_digest
from longmatch.lab.store.layer import Arrays, DocumentLayer, Layer, Shapes, Unhandled
from longmatch.lab.store.tokens import NO_SENTENCE, TokenLayer, restore_tokens
from longmatch.lexical.terms import Stream, terms_of
from longmatch.matching.matcher import Progress, Scores
from longmatch.matching.sentence_vectors import vectors_of_tokens
from longmatch.matching.sentences import Sentences
from longmatch.ragged import unit_rows
from longmatch.units import sentences

CONTENT_CODE = ("documents", "lexical/terms.py", "lexical/form.py", "lexical/form_words.py")
PLACES = ("starts", "ends", "lengths", "paragraph", "section")  # of each sentence
NO_EFFECT = ("_name_or_path", "transformers_version", "architectures", "threshold")  # config keys that change no vector


class WordLayer(DocumentLayer):
    """The hashed words of each sentence, for the lexical models; those of form too."""

    name = "words"
    shapes: Mapping[str, Any] = {"words": (np.uint64, ()), "bounds": (np.int64, ())}

    @property
    def facts(self) -> Mapping[str, Any]:
        """The code that splits and hashes."""
        return {"code": code_digest("documents", "lexical/terms.py")}

    def make_one(self, document: Document, below: Arrays) -> Arrays:
        """Hash the words of a document."""
        stream = terms_of(document, with_form=True).words
        if len(stream.offsets) < 2:
            raise Unhandled(NO_SENTENCE)
        return {"words": stream.ids, "bounds": stream.offsets}


class SentenceVectorLayer(Layer):
    """Sentence vectors of a backbone in half precision, and where the sentences lie."""

    name = "sentences"
    reads_documents = False

    def __init__(self, backbone: Backbone) -> None:
        self.backbone, self.base = backbone, TokenLayer(backbone.tokenizer)

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Those of the backbone."""
        return backbone_facts(self.backbone)

    @property
    def shapes(self) -> Shapes:
        """Vectors and positions."""
        return {"vectors": (np.float16, (self.backbone.width,))} | dict.fromkeys(PLACES, (np.int32, ()))

    def make(self, documents: Sequence[Document], below: Sequence[Arrays]) -> list[Arrays]:
        """Encode documents from their tokens."""
        found = vectors_of_tokens(map(restore_tokens, below, documents), self.backbone)
        return [
            {"vectors": vectors.astype(np.float16), **{name: getattr(pieces, name).astype(np.int32) for name in PLACES}}
            for pieces, vectors in found
        ]


class PieceWordLayer(DocumentLayer):
    """The hashed content words of the pieces that a backbone reads, whatever its weights: sentences, long ones cut."""

    name = "pieces"
    shapes: Shapes = WordLayer.shapes

    def __init__(self, backbone: Backbone) -> None:
        self.base, self.most = TokenLayer(backbone.tokenizer), backbone.max_tokens

    @property
    def facts(self) -> Mapping[str, Any]:
        """The code that cuts and hashes."""
        return {"max_tokens": self.most, "code": code_digest("units", *CONTENT_CODE)}

    def make_one(self, document: Document, below: Arrays) -> Arrays:
        """Hash the words of a document."""
        pieces = Sentences.of(sentences(restore_tokens(below, document), self.most))
        stream = terms_of(document, zip(pieces.starts.tolist(), pieces.ends.tolist(), strict=True)).words
        return {"words": stream.ids, "bounds": stream.offsets}


class SummedVectorLayer(DocumentLayer):
    """Sentence vectors by token vectors, and where the sentences lie."""

    name = "sentences"

    def __init__(self, table: TokenVectors) -> None:
        self.table = table

    @property
    def facts(self) -> Mapping[str, Any]:
        """The table, and the code that finds sentences and words."""
        code = code_digest(*CONTENT_CODE, "encoders/token_vectors.py", "default/meaning.py")
        return {"table": self.table.identity, "code": code}

    @property
    def shapes(self) -> Shapes:
        """Vectors and positions."""
        return {"vectors": (np.float16, (self.table.width,))} | dict.fromkeys(PLACES, (np.int32, ()))

    def make_one(self, document: Document, below: Arrays) -> Arrays:
        """Sum the tokens of each sentence."""
        ((found, vectors),) = encode_sentences([document], self.table)
        if not len(found):
            raise Unhandled(NO_SENTENCE)
        places = {name: getattr(found, name).astype(np.int32) for name in PLACES}
        return {"vectors": vectors.astype(np.float16), **places}


class ContentWordLayer(DocumentLayer):
    """The hashed content words of each sentence."""

    name = "content"
    shapes: Shapes = WordLayer.shapes

    @property
    def facts(self) -> Mapping[str, Any]:
        """The code that splits and hashes."""
        return {"code": code_digest(*CONTENT_CODE)}

    def make_one(self, document: Document, below: Arrays) -> Arrays:
        """Hash the words of a document."""
        stream = terms_of(document).words
        if len(stream.offsets) < 2:
            raise Unhandled(NO_SENTENCE)
        return {"words": stream.ids, "bounds": stream.offsets}


class SummedDocumentLayer(DocumentLayer):
    """A document's vector by token vectors."""

    name = "document"

    def __init__(self, table: TokenVectors) -> None:
        self.table = table

    @property
    def facts(self) -> Mapping[str, Any]:
        """Those of the sentences."""
        return SummedVectorLayer(self.table).facts

    @property
    def shapes(self) -> Shapes:
        """One vector per document."""
        return {"vector": (np.float32, (self.table.width,))}

    def make_one(self, document: Document, below: Arrays) -> Arrays:
        """The mean of its sentences."""
        ((found, vectors),) = encode_sentences([document], self.table)
        if not len(found):
            raise Unhandled(NO_SENTENCE)
        return {"vector": unit_rows(vectors.sum(0))[None]}


class MeanVectorLayer(Layer):
    """A document's vector by a transformer: the mean of its sentences."""

    name = "document"
    reads_documents = False
    facts: Mapping[str, Any] = {}

    def __init__(self, backbone: Backbone) -> None:
        self.backbone, self.base = backbone, SentenceVectorLayer(backbone)

    @property
    def shapes(self) -> Shapes:
        """One vector per document."""
        return {"vector": (np.float32, (self.backbone.width,))}

    def make(self, documents: Sequence[Document], below: Sequence[Arrays]) -> list[Arrays]:
        """Add up each document's sentences."""
        return [{"vector": unit_rows(under["vectors"].astype(np.float32).sum(0))[None]} for under in below]


def sentence_layer(backbone: AnyBackbone) -> SummedVectorLayer | SentenceVectorLayer:
    """Sentence vectors by a backbone."""
    return SummedVectorLayer(backbone) if isinstance(backbone, TokenVectors) else SentenceVectorLayer(backbone)


def meaning_layers(backbone: AnyBackbone) -> tuple[Layer, Layer]:
    """Documents' vectors by a backbone, and the words of the sentences that it reads."""
    if isinstance(backbone, TokenVectors):
        return SummedDocumentLayer(backbone), ContentWordLayer()
    return MeanVectorLayer(backbone), PieceWordLayer(backbone)


class OpeningVectorLayer(Layer):
    """One vector per document, of the tokens at its beginning that a backbone reads at once: FIRST or CLS."""

    reads_documents = False

    def __init__(self, matcher: PooledMatcher) -> None:
        self.name, self.matcher, self.base = matcher.rule, matcher, TokenLayer(matcher.backbone.tokenizer)

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Those of the backbone, and the rule."""
        return {**backbone_facts(self.matcher.backbone), "rule": self.matcher.rule}

    @property
    def shapes(self) -> Shapes:
        """One vector per document."""
        return {"vector": (np.float32, (self.matcher.backbone.width,))}

    def make(self, documents: Sequence[Document], below: Sequence[Arrays]) -> list[Arrays]:
        """Encode documents from their tokens."""
        tokens = list(map(restore_tokens, below, documents))
        return [{"vector": e.vector[None]} for e in self.matcher.openings(tokens)]


def restore_sentences(arrays: Arrays, document: Document) -> Sentences:
    """The positions of a document's sentences, as a matcher holds them."""
    return Sentences(document, *(arrays[name].astype(np.int64) for name in PLACES))


def restore_stream(arrays: Arrays) -> Stream:
    """The words of a document, as a matcher holds them; none for one that could not be handled."""
    return Stream(arrays["words"], arrays["bounds"] if len(arrays["bounds"]) else np.zeros(1, dtype=np.int64))


def scoring_device() -> torch.device:
    """A GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


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
