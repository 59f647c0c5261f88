"""FIRST, CLS and ALL: the cosine of one vector per document, with any backbone.

- `first`: the mean of the first N tokens, where N is the backbone's input size;
- `cls`: the vector of the start token over the same N tokens;
- `mean` (the paper's ALL): the mean over all tokens, encoded sentence by sentence.

And controls: the rules `sdr` and `mean` over vectors that are centred on the collection, without any training
(all-but-the-top, Mu and Viswanath, 2018). A trained model that is no better than its untrained backbone under these has
only spread its vectors evenly.
"""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Literal

import numpy as np

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.errors import LongmatchWarning
from longmatch.lab.explanation import explained_match, group_grid, nearest_evidence
from longmatch.matching.match import Coverage, Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentence_vectors import sentence_vectors
from longmatch.matching.sentences import Groups, Sentences
from longmatch.models.sdr.matcher import SdrEncoding, SdrMatcher
from longmatch.models.sdr.score import Paragraphs, weighted_means
from longmatch.ragged import AnyArray, array_namespace, unit_rows
from longmatch.units import Tokens, tokenize
from longmatch.units.pieces import pieces_from

PoolingRule = Literal["first", "cls", "mean"]
COMPONENTS_PER_WIDTH = 1 / 100  # principal components removed, as in the paper


@dataclass(frozen=True)
class PooledEncoding:
    """A document's pieces (its sentences, or only its opening), their vectors, and the document vector."""

    sentences: Sentences
    vectors: Vectors  # (pieces, width)
    vector: Vectors  # (width,)
    coverage: float

    @staticmethod
    def of(sentences: Sentences, vectors: Vectors, coverage: float = 1.0) -> "PooledEncoding":
        """The document vector is the mean of the pieces, weighted by tokens."""
        vector = weighted_means(vectors, sentences.lengths, np.array([0, len(vectors)]))[0]
        return PooledEncoding(sentences, vectors, vector, coverage)


class PooledMatcher(Encoder[PooledEncoding, Vectors]):
    """The cosine of one vector per document."""

    def __init__(self, rule: PoolingRule, backbone: Backbone | None = None) -> None:
        self.name = self.rule = rule
        self.backbone = backbone or Backbone.load()

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[PooledEncoding]:
        """Encode each document as one vector."""
        if self.rule == "mean":
            return [PooledEncoding.of(s, v) for s, v in sentence_vectors(documents, self.backbone, progress)]
        return self.openings([tokenize(document, self.backbone.tokenizer) for document in documents], progress)

    def collect(self, encodings: Sequence[PooledEncoding]) -> Vectors:
        """The vectors of all documents: (documents, width)."""
        return np.stack([e.vector for e in encodings])

    def score(self, query: PooledEncoding, collection: Vectors) -> Scores:
        """The cosine with every document."""
        return np.asarray(collection @ query.vector, dtype=np.float64)

    def explain(self, a: PooledEncoding, b: PooledEncoding, collection: Vectors | None = None) -> Match:
        """The cosine as a sum over the pieces of each document."""
        if min(a.coverage, b.coverage) < 1:
            warnings.warn(
                f"The model {self.name} reads only the opening of a document.", LongmatchWarning, stacklevel=3
            )
        vectors = a.vectors, b.vectors
        weights = [e.sentences.lengths.astype(np.float32) for e in (a, b)]  # of each piece: its number of tokens
        pairs = zip((a, b), (b, a), weights, strict=True)
        gains = (((e.vectors @ other.vector) * w).clip(min=0).astype(np.float64) for e, other, w in pairs)

        def cosines(mine: Groups, theirs: Groups) -> Vectors:
            """The cosine of the mean vectors of every two groups."""
            sides = zip((a, b), weights, (mine, theirs), strict=True)
            rows, columns = (weighted_means(e.vectors, w, groups.offsets) for e, w, groups in sides)
            return np.asarray((rows @ columns.T).clip(0, 1))

        return explained_match(
            (a.sentences, b.sentences),
            vectors,
            nearest_evidence(vectors, (next(gains), next(gains))),
            lambda level: group_grid(a.sentences, b.sentences, level, cosines),
            score=float((a.vector @ b.vector).clip(0, 1)),
            model=self.name,
            coverage=Coverage(a.coverage, b.coverage),
        )

    def openings(self, tokens: Sequence[Tokens], progress: Progress | None = None) -> list[PooledEncoding]:
        """Encode the opening of each document, as long as the backbone's input allows."""
        reader = self.backbone.with_pooling("cls" if self.rule == "cls" else "mean")
        read = [min(len(t), reader.max_tokens) for t in tokens]
        vectors = reader.encode([t.ids[:n] for t, n in zip(tokens, read, strict=True)])
        if progress:
            progress(len(tokens))
        return [
            PooledEncoding.of(Sentences.of(pieces_from(t, [0], [n])), vectors[i : i + 1], n / len(t))
            for i, (t, n) in enumerate(zip(tokens, read, strict=True))
        ]


first_matcher = partial(PooledMatcher, "first")
cls_matcher = partial(PooledMatcher, "cls")
mean_matcher = partial(PooledMatcher, "mean")


@dataclass(frozen=True)
class Centring:
    """The mean of a collection's vectors and their top principal components, which are both removed."""

    mean: AnyArray  # (width,)
    top: AnyArray  # (components, width), orthonormal

    @staticmethod
    def of(parts: Iterable[AnyArray]) -> "Centring":
        """Of vectors (rows, width), given in parts; labels play no role.

        >>> import numpy as np
        >>> rows = np.array([[3.0, 1.0, 0.1], [3.0, -1.0, 0.1], [3.0, 1.0, -0.1], [3.0, -1.0, -0.1]])
        >>> Centring.of([rows]).apply(rows).round(6).tolist()[0]  # neither the mean nor the widest direction is left
        [0.0, 0.0, 1.0]
        """
        sums = ((len(part), part.sum(0), part.T @ part) for part in parts)
        count, total, squares = reduce(lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]), sums)
        mean = total / count
        covariance = squares / count - mean[:, None] * mean
        vectors = array_namespace(mean).linalg.eigh(covariance)[1]  # in rising order of variance
        kept = max(1, round(len(mean) * COMPONENTS_PER_WIDTH))
        return Centring(mean, vectors[:, -kept:].T)

    def apply(self, vectors: AnyArray) -> AnyArray:
        """The vectors without mean and top components, of length 1 again: (rows, width)."""
        centred = vectors - self.mean
        return unit_rows(centred - (centred @ self.top.T) @ self.top)


class CentredSdrMatcher(SdrMatcher):
    """SDR's score over centred sentence vectors."""

    name = "sdr-centred"

    def score(self, query: SdrEncoding, collection: Paragraphs) -> Scores:
        """Centre query and collection on the collection's sentences, then score."""
        centring = Centring.of([collection.vectors])
        mine, theirs = (replace(p, vectors=centring.apply(p.vectors)) for p in (query.paragraphs, collection))
        return super().score(replace(query, paragraphs=mine), theirs)


class CentredMeanMatcher(PooledMatcher):
    """The cosine of centred document vectors, each the mean over all tokens."""

    def __init__(self, backbone: Backbone | None = None) -> None:
        super().__init__("mean", backbone)

    def score(self, query: PooledEncoding, collection: Vectors) -> Scores:
        """Centre query and collection on the collection's documents, then score."""
        centring = Centring.of([collection])
        return super().score(replace(query, vector=centring.apply(query.vector)), centring.apply(collection))
