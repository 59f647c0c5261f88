"""Paragraphs as single vectors: SDR's ablation "paragraph level only", without the sentence matrix of stage 1."""

import numpy as np

from longmatch.matching.sentences import Sentences
from longmatch.ragged import Array, array_namespace, segment_sum, unit_rows


def whole_paragraphs(sentences: Sentences, vectors: Array) -> tuple[Sentences, Array]:
    """Each paragraph as one long sentence, its vector the mean of its sentences' weighted by their tokens.

    The paper encodes the first N tokens of a paragraph in one piece; this reads all of it, and serves from the same
    sentence vectors as the full score.
    """
    offsets = sentences.paragraphs
    first, last = offsets[:-1], offsets[1:] - 1
    merged = Sentences(
        sentences.document,
        sentences.starts[first],
        sentences.ends[last],
        np.add.reduceat(sentences.lengths, first),
        sentences.paragraph[first],
        sentences.section[first],
    )
    return merged, weighted_means(vectors, sentences.lengths, offsets)


def weighted_means(vectors: Array, lengths: Array, offsets: Array) -> Array:
    """The direction of the weighted mean of each run of vectors: (groups, width), each of length 1."""
    xp = array_namespace(vectors)
    weights = xp.asarray(lengths, dtype=xp.float32, device=vectors.device)[:, None]
    return unit_rows(segment_sum(xp.astype(vectors, xp.float32) * weights, offsets))
