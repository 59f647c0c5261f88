"""The sentence vectors that adaptive clustering reads, by a frozen backbone."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.units import Tokens
from longmatch.units.chunking import piece_ends


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
