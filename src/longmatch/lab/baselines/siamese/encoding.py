"""Encoded documents: the vector, the contribution of each sentence to it, and the attention weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from longmatch.documents.document import Document
from longmatch.lab.baselines.siamese.encoder import VectorModel, VectorOutput
from longmatch.lab.encoders.ragged import segment_sum
from longmatch.matching.match import Passage
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import Pieces, pieces_from
from longmatch.units.tokens import Tokens


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


def encode_tokens(model: VectorModel, documents: Sequence[Tokens]) -> Iterator[VectorEncoding]:
    """Encode documents, each alone."""
    output = read_documents(model, documents)
    assert output.parts is not None
    sentences = [sentences_read(model, tokens) for tokens in documents]
    parts = output.parts.split([len(pieces) for pieces in sentences])
    for tokens, pieces, vector, part in zip(documents, sentences, output.vectors, parts, strict=True):
        length = vector.norm().clamp(min=1e-12)
        coverage = int(pieces.last[-1]) / len(tokens)
        yield VectorEncoding(Sentences.of(pieces), vector / length, (part / length).clone(), coverage)


def sentences_read(model: VectorModel, tokens: Tokens) -> Pieces:
    """The sentences of a document as a model reads them."""
    read = model.layout.read(tokens)
    bounds = model.layout.bounds(read)
    return pieces_from(read, bounds[:-1], bounds[1:])


def attention_of(model: VectorModel, tokens: Tokens, most_words: int) -> list[AttendedSentence]:
    """The sentences of a document, in order, with their weights; empty for a model without attention."""
    output, pieces = read_documents(model, [tokens]), sentences_read(model, tokens)
    if output.sentences is None or output.words is None:
        return []
    read, sentences = pieces.tokens, Sentences.of(pieces)
    starts = np.union1d(np.flatnonzero(read.word_starts), pieces.first)
    words = pieces_from(read, starts, np.append(starts[1:], len(read)))
    offsets = torch.from_numpy(np.append(words.first, len(read)))
    weights = segment_sum(output.words[:, None], offsets)[:, 0].numpy()
    home = np.searchsorted(pieces.first, words.first, side="right") - 1  # the sentence of each word
    attended = []
    for number, weight in enumerate(output.sentences.tolist()):
        mine = np.flatnonzero(home == number)
        best = mine[np.argsort(-weights[mine], kind="stable")][:most_words]
        top_words = tuple((words[int(i)].of(tokens.document.readable).strip(), float(weights[i])) for i in best)
        attended.append(AttendedSentence(sentences.passage(number), weight, top_words))
    return attended


def directions(parts: Tensor) -> Tensor:
    """Parts, or sums of them, scaled to length 1; zero vectors stay zero."""
    return normalize(parts, dim=1)
