"""The layers of the models at hand: words, sentence vectors, what chance offers them, and opening vectors."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone
from longmatch.lab.baselines.pooled.matcher import PooledMatcher
from longmatch.lab.evaluation.code import code_digest
from longmatch.lab.evaluation.encodings.layer import Array, Arrays, Layer, Unhandled
from longmatch.lab.evaluation.encodings.tokens import NO_SENTENCE, DocumentTokens, restore_tokens
from longmatch.lexical.terms import Stream, terms_of
from longmatch.matching.chance import SIZES, Background
from longmatch.matching.matcher import Progress
from longmatch.matching.sentence_vectors import vectors_of_tokens
from longmatch.matching.sentences import Sentences
from longmatch.parallel import parallel_map
from longmatch.units import sentences

PLACES = ("starts", "ends", "lengths", "paragraph", "section")  # of each sentence


class Words(Layer):
    """The hashed words of each sentence, for the lexical models."""

    name = "words"
    shapes: Mapping[str, Any] = {"words": (np.uint64, ()), "bounds": (np.int64, ())}

    @property
    def facts(self) -> Mapping[str, Any]:
        """The code that splits and hashes."""
        return {"code": code_digest("documents", "lexical/terms.py")}

    def make(
        self, documents: Sequence[Document], below: Sequence[Arrays], progress: Progress | None = None
    ) -> list[Arrays]:
        """Hash."""
        made = list(parallel_map(_words_at, (_running(document) for document in documents)))
        if any(len(arrays["bounds"]) < 2 for arrays in made):
            raise Unhandled(NO_SENTENCE)
        return made


class SentenceVectorLayer(Layer):
    """Sentence vectors of a backbone in half precision, and where the sentences stand."""

    name = "sentences"
    reads_documents = False

    def __init__(self, backbone: Backbone) -> None:
        self.backbone, self.base = backbone, DocumentTokens(backbone.tokenizer)

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The backbone's."""
        return backbone_facts(self.backbone)

    @property
    def shapes(self) -> Mapping[str, Any]:
        """Vectors and places."""
        return {"vectors": (np.float16, (self.backbone.width,))} | dict.fromkeys(PLACES, (np.int32, ()))

    def make(
        self, documents: Sequence[Document], below: Sequence[Arrays], progress: Progress | None = None
    ) -> list[Arrays]:
        """Encode."""
        made: list[Arrays] = []
        tokens = map(restore_tokens, below, documents)
        for pieces, vectors in vectors_of_tokens(tokens, self.backbone, progress):
            places = {name: getattr(pieces, name).astype(np.int32) for name in PLACES}
            made.append({"vectors": vectors.half().numpy()} | places)
        return made


class Chance(Layer):
    """What the default model expects by chance of each sentence vector."""

    name = "chance"
    reads_documents = False

    def __init__(self, base: SentenceVectorLayer, background: Background) -> None:
        self.base, self.background = base, background

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The background vectors'."""
        return {"background": tensors_digest([self.background.vectors]), "code": code_digest("matching/chance.py")}

    @property
    def shapes(self) -> Mapping[str, Any]:
        """Expectations."""
        return {"expectations": (np.float32, (len(SIZES),))}

    def make(
        self, documents: Sequence[Document], below: Sequence[Arrays], progress: Progress | None = None
    ) -> list[Arrays]:
        """Correct."""
        device = scoring_device()
        background = Background(self.background.vectors.to(device))
        vectors = (torch.from_numpy(under["vectors"]).to(device, torch.float32) for under in below)
        return [{"expectations": background.expectations(each).cpu().numpy()} for each in vectors]


class PieceWords(Layer):
    """The hashed words of the pieces that a backbone reads, whatever its weights: sentences, long ones cut."""

    name = "pieces"
    shapes: Mapping[str, Any] = Words.shapes

    def __init__(self, backbone: Backbone) -> None:
        self.base, self.most = DocumentTokens(backbone.tokenizer), backbone.max_tokens

    @property
    def facts(self) -> Mapping[str, Any]:
        """The code that cuts and hashes."""
        return {"max_tokens": self.most, "code": code_digest("documents", "units", "lexical/terms.py")}

    def make(
        self, documents: Sequence[Document], below: Sequence[Arrays], progress: Progress | None = None
    ) -> list[Arrays]:
        """Hash."""
        cut = (Sentences.of(sentences(tokens, self.most)) for tokens in map(restore_tokens, below, documents))
        return list(parallel_map(_words_at, ((each.document.readable, each.starts, each.ends) for each in cut)))


class Openings(Layer):
    """The vector of what a backbone reads at once: FIRST or CLS."""

    reads_documents = False

    def __init__(self, matcher: PooledMatcher) -> None:
        self.name, self.matcher, self.base = matcher.rule, matcher, DocumentTokens(matcher.backbone.tokenizer)

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The backbone's, and the rule."""
        return {**backbone_facts(self.matcher.backbone), "rule": self.matcher.rule}

    @property
    def shapes(self) -> Mapping[str, Any]:
        """One vector a document."""
        return {"vector": (np.float32, (self.matcher.backbone.width,))}

    def make(
        self, documents: Sequence[Document], below: Sequence[Arrays], progress: Progress | None = None
    ) -> list[Arrays]:
        """Encode."""
        tokens = list(map(restore_tokens, below, documents))
        return [{"vector": e.vector[None].numpy()} for e in self.matcher.openings(tokens, progress)]


def restore_sentences(arrays: Arrays, document: Document) -> Sentences:
    """The places of a document's sentences, as a matcher holds them."""
    return Sentences(document, *(arrays[name].astype(np.int64) for name in PLACES))


def restore_stream(arrays: Arrays) -> Stream:
    """The words of a document, as a matcher holds them; none for one that could not be handled."""
    return Stream(arrays["words"], arrays["bounds"] if len(arrays["bounds"]) else np.zeros(1, dtype=np.int64))


def backbone_facts(backbone: Backbone) -> dict[str, Any]:
    """What sentence vectors depend on: the weights themselves, pooling, length and precision; not where they lie."""
    return {
        "weights": weights_digest(backbone.model),
        "pooling": backbone.pooling.mode,
        "max_tokens": backbone.max_tokens,
        "precision": backbone.precision,
        "engine": backbone.engine.name,
        "code": code_digest("documents", "units", "encoders", "matching/sentence_vectors.py"),
    }


def scoring_device() -> torch.device:
    """A GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def require_sentences(documents: Iterable[Document]) -> None:
    """There is nothing to encode in a document without any."""
    if not all(any(True for _ in document.sentences) for document in documents):
        raise Unhandled(NO_SENTENCE)


def weights_digest(model: torch.nn.Module) -> str:
    """Of a network's weights, wherever they lie."""
    return tensors_digest(model.state_dict().values())


def tensors_digest(tensors: Iterable[torch.Tensor]) -> str:
    """Of the numbers themselves."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(tensor.detach().cpu().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]


def _running(document: Document) -> tuple[str, Array, Array]:
    """The text and where its sentences begin and end."""
    spans = np.array([(s.start, s.end) for s in document.sentences], dtype=np.int64).reshape(-1, 2)
    return document.readable, spans[:, 0], spans[:, 1]


def _words_at(found: tuple[str, Array, Array]) -> Arrays:
    """The hashed words of pieces of a text."""
    text, starts, ends = found
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    stream = terms_of(Document("", "", text, ()), spans).words
    return {"words": stream.ids, "bounds": stream.offsets}
