"""The sentence vectors that adaptive clustering reads: of a document's first sentences, by a backbone as it is."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.units import Tokens
from longmatch.units.chunking import piece_ends


def first_sentence_vectors(documents: Sequence[Tokens], backbone: Backbone, most: int) -> Iterator[Vectors]:
    """Of each document one vector of length 1 a sentence, of the first `most` of them: (sentences, width).

    A sentence of more tokens than the backbone reads is cut, and the mean over its pieces is its vector.
    """
    pieces, lengths, counts = [], [], []  # of tokens; pieces of each sentence; sentences of each document
    for tokens in documents:
        bounds = list(pairwise(tokens.sentence_offsets[: most + 1].tolist()))
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
