"""SDR section 3.3: the hierarchical score, as one matrix product and segment reductions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from longmatch.matching.sentences import Sentences
from longmatch.ragged import (
    AnyArray,
    array_namespace,
    offsets_of,
    segment_ids,
    segment_max,
    segment_slices,
    segment_sum,
    unit_rows,
)

Unit = Literal["paragraph", "section"]  # what the paper calls a paragraph: its figure 3 shows whole sections

CPU_CELLS, GPU_CELLS = 1 << 25, 1 << 29  # of the product held at a time


@dataclass(frozen=True)
class Paragraphs:
    """Sentence vectors (sentences, width) of one or many documents, with where paragraphs and documents begin."""

    vectors: AnyArray
    paragraphs: AnyArray  # offsets into the sentences
    documents: AnyArray  # offsets into the paragraphs

    @staticmethod
    def of(vectors: AnyArray, paragraphs: AnyArray) -> "Paragraphs":
        """One document."""
        xp = array_namespace(paragraphs)
        return Paragraphs(vectors, paragraphs, xp.asarray([0, len(paragraphs) - 1], device=paragraphs.device))

    @staticmethod
    def join(parts: list["Paragraphs"]) -> "Paragraphs":
        """Many documents as one flat collection."""
        xp = array_namespace(parts[0].vectors)
        sentences = xp.concat([p.paragraphs[1:] - p.paragraphs[:-1] for p in parts])
        paragraphs = xp.concat([p.documents[1:] - p.documents[:-1] for p in parts])
        return Paragraphs(xp.concat([p.vectors for p in parts]), offsets_of(sentences), offsets_of(paragraphs))


def paragraph_scores(source: Paragraphs, candidates: Paragraphs) -> AnyArray:
    """Equations 4 and 5: P, the mean over a source paragraph's sentences of their best cosine in a candidate paragraph.

    (candidate paragraphs, source paragraphs): the long axis first, as in every reduction here.
    """
    xp = array_namespace(source.vectors)
    parts = []
    # the matrix that averages a paragraph's sentences: (source sentences, source paragraphs)
    offsets, dtype = source.paragraphs, source.vectors.dtype
    member = segment_ids(offsets)[:, None] == xp.arange(len(offsets) - 1, device=offsets.device)
    mean = xp.astype(member, dtype) / xp.astype(offsets[1:] - offsets[:-1], dtype)
    cells = CPU_CELLS if str(source.vectors.device) == "cpu" else GPU_CELLS
    rows_at_once = cells // max(1, len(source.vectors))
    for first, last in [*segment_slices(candidates.paragraphs.tolist(), rows_at_once)] or [(0, 0)]:
        offsets = candidates.paragraphs[first : last + 1]
        rows = candidates.vectors[int(offsets[0]) : int(offsets[-1])]
        cosines = rows @ source.vectors.T  # M, equation 4
        parts.append(segment_max(cosines, offsets - offsets[0]) @ mean)
    return xp.astype(xp.concat(parts), xp.float32, copy=False)


def normalisation(scores: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The mean and deviation of each source paragraph over the paragraphs of all candidates."""
    xp = array_namespace(scores)
    return xp.mean(scores, axis=0), xp.std(scores, axis=0).clip(min=1e-9)


def sdr_scores(source: Paragraphs, candidates: Paragraphs, normalise: bool = True) -> AnyArray:
    """Equation 6: S(s, c) for every candidate c, the mean over source paragraphs of their best normalised P.

    The maximum commutes with the normalisation, so it is taken first.
    """
    scores = paragraph_scores(source, candidates)  # (candidate paragraphs, source paragraphs)
    best = segment_max(scores, candidates.documents)  # (candidates, source paragraphs)
    if normalise:
        mean, deviation = normalisation(scores)
        best = (best - mean) / deviation
    return best.mean(1)


def symmetric_scores(source: Paragraphs, candidates: Paragraphs, background: Paragraphs) -> AnyArray:
    """(S(s, c) + S(c, s)) / 2, every row normalised over a fixed background, so that the two directions are alike."""
    forward = directional_scores(source, candidates, background)
    backward = [directional_scores(c, source, background)[0] for c in split(candidates)]
    return (forward + array_namespace(forward).stack(backward)) / 2


def directional_scores(source: Paragraphs, candidates: Paragraphs, background: Paragraphs) -> AnyArray:
    """S(s, c) with the statistics of a background in place of all candidates: for a lone pair."""
    mean, deviation = normalisation(paragraph_scores(source, background))
    best = segment_max(paragraph_scores(source, candidates), candidates.documents)
    return ((best - mean) / deviation).mean(1)


def split(collection: Paragraphs) -> Iterator[Paragraphs]:
    """The documents of a collection one by one."""
    for first, last in zip(collection.documents[:-1].tolist(), collection.documents[1:].tolist(), strict=True):
        paragraphs = collection.paragraphs[first : last + 1]
        rows = collection.vectors[int(paragraphs[0]) : int(paragraphs[-1])]
        yield Paragraphs.of(rows, paragraphs - paragraphs[0])


def whole_paragraphs(sentences: Sentences, vectors: AnyArray) -> tuple[Sentences, AnyArray]:
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


def weighted_means(vectors: AnyArray, lengths: AnyArray, offsets: AnyArray) -> AnyArray:
    """The direction of the weighted mean of each run of vectors: (groups, width), each of length 1."""
    xp = array_namespace(vectors)
    weights = xp.asarray(lengths, dtype=xp.float32, device=vectors.device)[:, None]
    return unit_rows(segment_sum(xp.astype(vectors, xp.float32) * weights, offsets))
