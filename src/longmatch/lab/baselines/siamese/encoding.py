"""What a baseline knows of one document: its vector, what each sentence brings to it, and where attention went."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from longmatch.documents.document import Document
from longmatch.encoders.ragged import segment_sum
from longmatch.lab.baselines.siamese.encoder import Reading, VectorModel
from longmatch.matching.match import Passage
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import Pieces, pieces_from
from longmatch.units.tokens import Tokens


@dataclass(frozen=True)
class VectorEncoding:
    """A document's vector, of length 1, and the parts of it that its sentences bring."""

    sentences: Sentences  # spans and headings of the sentences that were read
    vector: Tensor  # (width,)
    parts: Tensor  # (sentences, width) in the vector's measure
    coverage: float  # the share of the document that was read

    @property
    def document(self) -> Document:
        """The document itself."""
        return self.sentences.document


@dataclass(frozen=True)
class WeighedSentence:
    """A sentence, the attention paid to it, and the words in it that were paid most."""

    passage: Passage
    weight: float  # those of a document sum to 1
    words: tuple[tuple[str, float], ...]  # the first most; those of a sentence, all of them taken, sum to 1


def read_documents(model: VectorModel, documents: Sequence[Tokens]) -> Reading:
    """Read documents together, without gradients, with all there is to explain them; on the CPU, in float32."""
    with torch.no_grad():
        found: Reading = model(model.layout.lay_out(documents).to(model.device), explained=True)
    kept = (None if x is None else x.float().cpu() for x in (found.vectors, found.parts, found.sentences, found.words))
    return Reading(*kept)  # type: ignore[arg-type]


def encode_tokens(model: VectorModel, documents: Sequence[Tokens]) -> Iterator[VectorEncoding]:
    """Encode documents, each alone."""
    found = read_documents(model, documents)
    assert found.parts is not None
    cut = [sentences_read(model, tokens) for tokens in documents]
    parts = found.parts.split([len(pieces) for pieces in cut])
    for tokens, pieces, vector, own in zip(documents, cut, found.vectors, parts, strict=True):
        length = vector.norm().clamp(min=1e-12)
        coverage = int(pieces.last[-1]) / len(tokens)
        yield VectorEncoding(Sentences.of(pieces), vector / length, (own / length).clone(), coverage)


def sentences_read(model: VectorModel, tokens: Tokens) -> Pieces:
    """The sentences of a document as a model reads them."""
    read = model.layout.read(tokens)
    bounds = model.layout.bounds(read)
    return pieces_from(read, bounds[:-1], bounds[1:])


def attention_of(model: VectorModel, tokens: Tokens, most_words: int) -> list[WeighedSentence]:
    """The sentences of a document in their order, each with its weight; empty for a model without attention."""
    found, pieces = read_documents(model, [tokens]), sentences_read(model, tokens)
    if found.sentences is None or found.words is None:
        return []
    read, sentences = pieces.tokens, Sentences.of(pieces)
    starts = np.union1d(np.flatnonzero(read.word_starts), pieces.first)
    words = pieces_from(read, starts, np.append(starts[1:], len(read)))
    offsets = torch.from_numpy(np.append(words.first, len(read)))
    weights = segment_sum(found.words[:, None], offsets)[:, 0].numpy()
    home = np.searchsorted(pieces.first, words.first, side="right") - 1  # the sentence of each word
    weighed = []
    for number, weight in enumerate(found.sentences.tolist()):
        mine = np.flatnonzero(home == number)
        best = mine[np.argsort(-weights[mine], kind="stable")][:most_words]
        told = tuple((words[int(i)].of(tokens.document.readable).strip(), float(weights[i])) for i in best)
        weighed.append(WeighedSentence(sentences.passage(number), weight, told))
    return weighed


def direction(parts: Tensor) -> Tensor:
    """Parts, or sums of them, at length 1; nothing stays nothing."""
    return normalize(parts, dim=1)
