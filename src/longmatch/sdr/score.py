"""SDR section 3.3: the hierarchical score, as one matrix product and segment reductions."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from longmatch.encoders.ragged import segment_ids, segment_max

CPU_CELLS, GPU_CELLS = 1 << 25, 1 << 29  # of the product held at a time


@dataclass(frozen=True)
class Paragraphs:
    """Sentence vectors (sentences, width) of one or many documents, with where paragraphs and documents begin."""

    vectors: Tensor
    paragraphs: Tensor  # offsets into the sentences
    documents: Tensor  # offsets into the paragraphs

    @staticmethod
    def of(vectors: Tensor, paragraphs: Tensor) -> "Paragraphs":
        """One document."""
        return Paragraphs(vectors, paragraphs, torch.tensor([0, len(paragraphs) - 1]))

    @staticmethod
    def join(parts: list["Paragraphs"]) -> "Paragraphs":
        """Many documents as one flat collection."""
        sentences = torch.cat([p.paragraphs.diff() for p in parts])
        paragraphs = torch.cat([p.documents.diff() for p in parts])
        zero = torch.zeros(1, dtype=torch.long)
        return Paragraphs(
            torch.cat([p.vectors for p in parts]),
            torch.cat([zero, sentences.cumsum(0)]),
            torch.cat([zero, paragraphs.cumsum(0)]),
        )


def paragraph_scores(source: Paragraphs, candidates: Paragraphs) -> Tensor:
    """Equations 4 and 5: P, the mean over a source paragraph's sentences of their best cosine in a candidate paragraph.

    (candidate paragraphs, source paragraphs): the long axis first, as in every reduction here.
    """
    parts = []
    mean = _averaging(source.paragraphs, source.vectors.dtype)  # (source sentences, source paragraphs)
    cells = CPU_CELLS if source.vectors.device.type == "cpu" else GPU_CELLS
    for first, last in _slices(candidates.paragraphs, cells // max(1, len(source.vectors))):
        offsets = candidates.paragraphs[first : last + 1]
        rows = candidates.vectors[int(offsets[0]) : int(offsets[-1])]
        cosines = _cosines(rows, source.vectors)  # M, equation 4
        parts.append(segment_max(cosines, offsets - offsets[0]) @ mean)
    return torch.cat(parts).float()


def normalisation(scores: Tensor) -> tuple[Tensor, Tensor]:
    """The mean and deviation of each source paragraph over the paragraphs of all candidates."""
    deviation, mean = torch.std_mean(scores, dim=0, correction=0)
    return mean, deviation.clamp(min=1e-9)


def sdr_scores(source: Paragraphs, candidates: Paragraphs, normalise: bool = True) -> Tensor:
    """Equation 6: S(s, c) for every candidate c, the mean over source paragraphs of their best normalised P.

    The maximum commutes with the normalisation, so it is taken first.
    """
    scores = paragraph_scores(source, candidates)  # (candidate paragraphs, source paragraphs)
    best = segment_max(scores, candidates.documents)  # (candidates, source paragraphs)
    if normalise:
        mean, deviation = normalisation(scores)
        best = (best - mean) / deviation
    return best.mean(1)


def symmetric_scores(source: Paragraphs, candidates: Paragraphs, background: Paragraphs) -> Tensor:
    """(S(s, c) + S(c, s)) / 2, every row normalised over a fixed background, so that the two directions are alike."""
    forward = directional_scores(source, candidates, background)
    backward = [directional_scores(c, source, background)[0] for c in split(candidates)]
    return (forward + torch.stack(backward)) / 2


def directional_scores(source: Paragraphs, candidates: Paragraphs, background: Paragraphs) -> Tensor:
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


def _cosines(a: Tensor, b: Tensor) -> Tensor:
    """The product of vectors. They are stored with 11 binary digits, which a GPU's TF32 keeps all of, and is faster."""
    if a.device.type == "cpu":
        return a @ b.T
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        return a @ b.T
    finally:
        torch.set_float32_matmul_precision(before)


def _averaging(offsets: Tensor, dtype: torch.dtype) -> Tensor:
    """The matrix that averages runs of columns: (sentences, paragraphs)."""
    homes, lengths = segment_ids(offsets), offsets.diff()
    matrix = torch.zeros((len(homes), len(lengths)), dtype=dtype, device=offsets.device)
    matrix[torch.arange(len(homes), device=offsets.device), homes] = (1 / lengths[homes]).to(dtype)
    return matrix


def _slices(offsets: Tensor, rows: int) -> Iterator[tuple[int, int]]:
    """Runs of paragraphs of at most `rows` sentences together; a longer paragraph is a run by itself."""
    if int(offsets[-1] - offsets[0]) <= rows:
        yield 0, len(offsets) - 1
        return
    bounds = offsets.tolist()
    first = 0
    while first < len(bounds) - 1:
        last = first + 1
        if bounds[-1] - bounds[first] <= rows:
            last = len(bounds) - 1
        else:
            last = max(last, int(torch.searchsorted(offsets, bounds[first] + rows, right=True)) - 1)
        yield first, last
        first = last
