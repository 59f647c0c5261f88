"""The matcher of all siamese baselines, and the explanation of a cosine as a sum over sentences.

A document's vector is the sum of its sentences' parts, so its cosine with another vector is a sum too. A sentence's
contribution is its term of that sum, at least 0, credited to its pair with the sentence of the other document whose
part has the highest cosine with it. For HAN and SMASH a part is the sentence's state times its attention weight, so the
contribution is attention restricted to what the documents share.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize
from transformers import PretrainedConfig

from longmatch.documents.document import Document
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.siamese.dssm import DssmModel
from longmatch.lab.baselines.siamese.encoder import VectorModel, VectorOutput
from longmatch.lab.baselines.siamese.longformer import LongModel
from longmatch.lab.baselines.siamese.token_networks import ArcModel, HanModel, SmashModel
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.checkpoint import open_checkpoint
from longmatch.lab.encoders.ragged import segment_sum
from longmatch.lab.explanation import explained_match, group_grid, nearest_evidence
from longmatch.lab.matchers import TrainedMatcher
from longmatch.matching.match import Coverage, Grid, Level, Match, Passage
from longmatch.matching.sentences import Groups, Sentences
from longmatch.units import Tokens, tokenize
from longmatch.units.pieces import Pieces, pieces_from


@dataclass(frozen=True)
class VectorEncoding:
    """A document's vector, of length 1, and its sentences' contributions to it."""

    sentences: Sentences  # those that were read
    vector: Tensor  # (width,)
    parts: Tensor  # (sentences, width), scaled like the vector
    coverage: float  # the share of the document that was read

    @property
    def document(self) -> Document:
        """The encoded document."""
        return self.sentences.document


@dataclass(frozen=True)
class AttendedSentence:
    """A sentence with its attention weight, and the words in it with the highest weights."""

    passage: Passage
    weight: float  # sums to 1 over the document
    words: tuple[tuple[str, float], ...]  # highest first; the weights of all words of a sentence sum to 1


def read_documents(model: VectorModel, documents: Sequence[Tokens]) -> VectorOutput:
    """Encode documents in one batch, without gradients, with all that an explanation needs; on the CPU, in float32."""
    with torch.no_grad():
        output: VectorOutput = model(model.layout.lay_out(documents).to(model.device), with_parts=True)
    tensors = (output.vectors, output.parts, output.sentences, output.words)
    return VectorOutput(*(None if x is None else x.float().cpu() for x in tensors))  # type: ignore[arg-type]


def sentences_read(model: VectorModel, tokens: Tokens) -> Pieces:
    """The sentences of a document as a model reads them."""
    read = tokens.truncated(model.layout.max_tokens)
    bounds = model.layout.bounds(read)
    return pieces_from(read, bounds[:-1], bounds[1:])


def explain_vectors(
    a: VectorEncoding, b: VectorEncoding, name: str, probability: float | None, threshold: float | None
) -> Match:
    """The match of two documents."""

    def grid(level: Level) -> Grid:
        """The cosine of the summed parts of every two groups of sentences, at least 0."""
        return group_grid(
            a.sentences, b.sentences, level, lambda x, y: (_summed(a, x) @ _summed(b, y).T).clamp(0, 1).numpy()
        )

    vectors = normalize(a.parts, dim=1), normalize(b.parts, dim=1)  # zero vectors stay zero
    gains = ((e.parts @ other.vector).clamp(min=0).double().numpy() for e, other in ((a, b), (b, a)))
    return explained_match(
        (a.sentences, b.sentences),
        vectors,
        nearest_evidence(vectors, (next(gains), next(gains))),
        grid,
        score=float((a.vector @ b.vector).clamp(0, 1)),
        model=name,
        probability=probability,
        threshold=threshold,
        coverage=Coverage(a.coverage, b.coverage),
    )


def _summed(encoding: VectorEncoding, groups: Groups) -> Tensor:
    return normalize(segment_sum(encoding.parts, torch.from_numpy(groups.offsets)), dim=1)


class SavedModel:
    """Opens a folder with the model class that its config names."""

    KINDS: ClassVar[tuple[type[VectorModel], ...]] = (DssmModel, ArcModel, HanModel, SmashModel, LongModel)

    @classmethod
    def from_pretrained(cls, folder: str | Path, **_: Any) -> VectorModel:
        """The model; transformers' name for it."""
        kind = PretrainedConfig.get_config_dict(folder)[0].get("model_type")
        model_class: Any = next((each for each in cls.KINDS if each.config_class.model_type == kind), None)
        if model_class is None:
            raise ValueError(f"it holds a model of type {kind}")
        model: VectorModel = open_checkpoint(model_class, folder)
        return model


class VectorMatcher(TrainedMatcher[VectorEncoding]):
    """The cosine of one vector per document, explained by each sentence's contribution to it."""

    Model = SavedModel
    model: VectorModel
    tokens_per_batch = 32_768

    def __init__(self, model: VectorModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.name = str(model.config.model_type).removeprefix("longmatch-")

    @property
    def reads(self) -> str:
        """How much of a long document is read."""
        return f"only the first {self.model.layout.max_tokens} tokens of a document"

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterator[VectorEncoding]:
        """Encode documents, each alone."""
        output = read_documents(self.model, documents)
        assert output.parts is not None
        sentences = [sentences_read(self.model, tokens) for tokens in documents]
        parts = output.parts.split([len(pieces) for pieces in sentences])
        for tokens, pieces, vector, part in zip(documents, sentences, output.vectors, parts, strict=True):
            length = vector.norm().clamp(min=1e-12)
            coverage = int(pieces.last[-1]) / len(tokens)
            yield VectorEncoding(Sentences.of(pieces), vector / length, (part / length).clone(), coverage)

    def length(self, tokens: Tokens) -> int:
        """The number of tokens the model reads."""
        return len(tokens.truncated(self.model.layout.max_tokens))

    def explain(self, a: VectorEncoding, b: VectorEncoding, collection: Tensor | None = None) -> Match:
        """The match of two documents, with the probability that the model was trained to predict."""
        with torch.no_grad():
            probability = self.model.probability((a.vector @ b.vector).to(self.model.device))
        return explain_vectors(a, b, self.name, float(probability), self.threshold)

    def attention(self, document: Document, words: int = 3) -> list[AttendedSentence]:
        """The sentences of a document with their attention weights, and the top `words` words (HAN and SMASH)."""
        tokens = tokenize(document, self.tokenizer.backend_tokenizer)
        output, pieces = read_documents(self.model, [tokens]), sentences_read(self.model, tokens)
        if output.sentences is None or output.words is None:
            raise LongmatchError(f"The model {self.name} has no attention over sentences. Train han or smash for that.")
        read, sentences = pieces.tokens, Sentences.of(pieces)
        starts = np.union1d(np.flatnonzero(read.word_starts), pieces.first)
        parts = pieces_from(read, starts, np.append(starts[1:], len(read)))  # words
        offsets = torch.from_numpy(np.append(parts.first, len(read)))
        weights = segment_sum(output.words[:, None], offsets)[:, 0].numpy()
        home = np.searchsorted(pieces.first, parts.first, side="right") - 1  # the sentence of each word
        attended = []
        passages = sentences.passages(np.arange(len(sentences)))
        for number, weight in enumerate(output.sentences.tolist()):
            mine = np.flatnonzero(home == number)
            best = mine[np.argsort(-weights[mine], kind="stable")][:words]
            top_words = tuple((parts[int(i)].of(document.readable).strip(), float(weights[i])) for i in best)
            attended.append(AttendedSentence(passages[number], weight, top_words))
        return attended
