"""SDR's score over a collection in slices, with the exact statistics of all slices together."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from longmatch.lab.encoders.ragged import segment_max
from longmatch.models.sdr.score import Paragraphs, paragraph_scores


@dataclass(frozen=True)
class SlicePart:
    """The scores of one slice of candidates for a source document."""

    best: Tensor  # (candidates of the slice, source paragraphs): the best P of each
    count: int  # candidate paragraphs
    total: Tensor  # (source paragraphs,) sums of P and of its square, in double precision
    squares: Tensor

    @staticmethod
    def of(source: Paragraphs, candidates: Paragraphs) -> "SlicePart":
        """Score one slice."""
        scores = paragraph_scores(source, candidates)  # (candidate paragraphs, source paragraphs)
        exact = scores.double()
        best = segment_max(scores, candidates.documents)
        return SlicePart(best.cpu(), len(scores), exact.sum(0).cpu(), exact.square().sum(0).cpu())


def combine(parts: Iterable[SlicePart], normalise: bool = True) -> Tensor:
    """Equation 6 over all slices, in order: S(s, c) for every candidate."""
    parts = list(parts)
    best = torch.cat([part.best for part in parts])
    if normalise:
        count = sum(part.count for part in parts)
        mean = torch.stack([part.total for part in parts]).sum(0) / count
        square = torch.stack([part.squares for part in parts]).sum(0) / count
        deviation = (square - mean.square()).clamp(min=0).sqrt().clamp(min=1e-9)
        best = ((best.double() - mean) / deviation).float()
    return best.mean(1)
