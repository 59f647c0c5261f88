"""The sentence vectors that adaptive clustering reads: made once by a frozen backbone, and memory-mapped."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.lab.store.digests import backbone_facts, code_digest
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.layer import Arrays, Layer, Shapes
from longmatch.lab.store.tokens import TokenCollection, TokenLayer, restore_tokens
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.units import Tokens
from longmatch.units.pieces import piece_ends
from longmatch.units.tokens import Ints


def first_sentence_vectors(documents: Sequence[Tokens], backbone: Backbone, limit: int) -> Iterator[Vectors]:
    """The unit vectors of the first `limit` sentences of each document: (sentences, width).

    A sentence longer than the backbone's limit is split, and its vector is the mean over the pieces.
    """
    pieces, lengths, counts = [], [], []  # token ids; pieces per sentence; sentences per document
    for tokens in documents:
        bounds = list(pairwise(tokens.sentence_offsets[: limit + 1].tolist()))
        for start, end in bounds:
            cuts = [start, *piece_ends(tokens, start, end, backbone.max_tokens)]
            pieces += [tokens.ids[a:b] for a, b in pairwise(cuts)]
            lengths.append(len(cuts) - 1)
        counts.append(len(bounds))
    vectors = backbone.encode(pieces)
    if any(length > 1 for length in lengths):
        vectors = np.add.reduceat(vectors, np.cumsum([0, *lengths[:-1]]), axis=0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    yield from np.split(vectors, np.cumsum(counts)[:-1])


class FirstSentenceLayer(Layer):
    """The vectors of the first `most` sentences of some documents, in half precision; of the others none."""

    name = "first-sentences"
    reads_documents = False

    def __init__(self, backbone: Backbone, most: int, ids: Sequence[str]) -> None:
        self.backbone, self.most, self.ids = backbone, most, frozenset(ids)
        self.base = TokenLayer(backbone.tokenizer)

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Those of the backbone, the number of sentences, and which documents."""
        return {
            **backbone_facts(self.backbone),
            "most": self.most,
            "documents": hashlib.sha256("\0".join(sorted(self.ids)).encode()).hexdigest(),
            "vectors": code_digest("lab/papers/sst/vectors.py"),
        }

    @property
    def shapes(self) -> Shapes:
        """One vector per sentence."""
        return {"vectors": (np.float16, (self.backbone.width,))}

    def make(self, documents: Sequence[Document], below: Sequence[Arrays]) -> list[Arrays]:
        """Encode the first sentences of the documents that are wanted."""
        wanted = [restore_tokens(*pair) for pair in zip(below, documents, strict=True) if pair[1].id in self.ids]
        vectors = first_sentence_vectors(wanted, self.backbone, self.most) if wanted else iter(())
        return [{"vectors": next(vectors)} if document.id in self.ids else self.empty() for document in documents]


class FirstSentenceVectors:
    """The vectors of documents' first sentences, by the numbers of a collection of tokens."""

    def __init__(self, stored: StoredLayer, rows: Ints) -> None:
        self._stored, self._rows = stored, rows

    @classmethod
    def build(cls, tokens: TokenCollection, documents: Ints, backbone: Backbone, most: int) -> "FirstSentenceVectors":
        """Encode the first `most` sentences of these documents into the store of the tokens, unless that is done."""
        layer = FirstSentenceLayer(backbone, most, [tokens.ids[number] for number in documents.tolist()])
        (stored,) = tokens.store.build([layer])
        return cls(stored, tokens.rows)

    @classmethod
    def of_pairs(cls, data: TrainingData, backbone: Backbone, most: int) -> "FirstSentenceVectors":
        """The same for all documents of the training and validation pairs."""
        pairs = [data.pairs("train"), data.pairs("validation")]
        numbers = np.unique(np.concatenate([side for table in pairs for side in (table.source, table.target)]))
        return cls.build(data.tokens, numbers, backbone, most)

    def __getitem__(self, number: int) -> Vectors:
        """The vectors of one document: (sentences, width)."""
        row = int(self._rows[number])
        first, last = self._stored.bounds("vectors")[row : row + 2]
        return self._stored.mapped("vectors")[first:last].astype(np.float32)
