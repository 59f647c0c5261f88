"""Paragraphs as single vectors: SDR's ablation "paragraph level only", without the sentence matrix of stage 1."""

import numpy as np
import torch
from torch import Tensor, nn

from longmatch.encoders.ragged import segment_sum
from longmatch.matching.sentences import Sentences


def whole_paragraphs(sentences: Sentences, vectors: Tensor) -> tuple[Sentences, Tensor]:
    """Each paragraph as one long sentence, its vector the mean of its sentences' weighted by their tokens.

    The paper encodes the first N tokens of a paragraph in one piece; this reads all of it, and serves from the same
    sentence vectors as the full score.
    """
    offsets = sentences.paragraphs
    first, last = offsets[:-1].numpy(), offsets[1:].numpy() - 1
    merged = Sentences(
        sentences.document,
        sentences.starts[first],
        sentences.ends[last],
        np.add.reduceat(sentences.lengths, first),
        sentences.paragraph[first],
        sentences.section[first],
    )
    return merged, weighted_means(vectors, torch.from_numpy(sentences.lengths), offsets)


def weighted_means(vectors: Tensor, lengths: Tensor, offsets: Tensor) -> Tensor:
    """The direction of the weighted mean of each run of vectors: (groups, width), each of length 1."""
    weights = lengths.to(vectors.device, torch.float32)[:, None]
    return nn.functional.normalize(segment_sum(vectors.float() * weights, offsets), dim=1)
