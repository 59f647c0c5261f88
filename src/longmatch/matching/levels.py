"""Best partners and group-by-group scores of two documents' sentences, by matrix product and segment reduction.

The product is taken in slices, so that two documents of any length compare in bounded memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from longmatch.encoders.ragged import segment_max, segment_mean
from longmatch.matching.chance import corrected, interpolation

SLICE = 1024  # sentences of one document at a time


@dataclass(frozen=True)
class SentenceVectors:
    """Sentences of a document or a collection."""

    vectors: Tensor  # (sentences, width)
    expectations: Tensor  # by chance: (sentences, sizes)

    def __len__(self) -> int:
        return len(self.vectors)

    @staticmethod
    def cat(parts: Sequence["SentenceVectors"]) -> "SentenceVectors":
        """Concatenate the sentences of several documents."""
        return SentenceVectors(
            torch.cat([part.vectors for part in parts]), torch.cat([part.expectations for part in parts])
        )


@dataclass(frozen=True)
class Partners:
    """For every sentence its best partner in the other document, the cosine, and the cosine corrected for chance."""

    index: Tensor
    cosine: Tensor
    corrected: Tensor


def best_partners(
    a: SentenceVectors, b: SentenceVectors, apart: tuple[Tensor, Tensor] | None = None
) -> tuple[Partners, Partners]:
    """The best partner of each sentence of a in b, and of each sentence of b in a.

    `apart` numbers the sentences' groups in a and in b; sentences of the same number are no partners.
    """
    place = a.vectors.device
    a_best = torch.empty(len(a), device=place), torch.empty(len(a), dtype=torch.long, device=place)
    b_best = torch.full((len(b),), -2.0, device=place), torch.zeros(len(b), dtype=torch.long, device=place)
    for start, cosines in _slices(a, b):
        stop = start + cosines.shape[1]
        if apart:
            cosines.masked_fill_(apart[1][:, None] == apart[0][start:stop], -1.0)
        torch.max(cosines, dim=0, out=(a_best[0][start:stop], a_best[1][start:stop]))
        value, index = cosines.max(dim=1)
        better = value > b_best[0]
        b_best[0][better] = value[better]
        b_best[1][better] = index[better] + start
    return _partners(a, a_best, len(b)), _partners(b, b_best, len(a))


def _partners(sentences: SentenceVectors, best: tuple[Tensor, Tensor], size: int) -> Partners:
    expected = sentences.expectations @ interpolation(torch.tensor([size], device=best[0].device))[0]
    return Partners(best[1], best[0], corrected(best[0], expected))


def group_scores(a: SentenceVectors, b: SentenceVectors, a_offsets: Tensor, b_offsets: Tensor) -> Tensor:
    """The sentence score of every group of a with every group of b, both directions averaged:
    (groups of a, groups of b).

    Groups are runs of sentences: sections, paragraphs or chunks.
    """
    forward = segment_mean(_corrected_group_best(a, b, b_offsets), a_offsets)  # (groups a, groups b)
    backward = segment_mean(_corrected_group_best(b, a, a_offsets), b_offsets)  # (groups b, groups a)
    return (forward + backward.T) / 2


def _corrected_group_best(a: SentenceVectors, b: SentenceVectors, b_offsets: Tensor) -> Tensor:
    """For each sentence of a, the best it finds in each group of b, corrected for chance: (sentences a, groups b)."""
    best = [segment_max(cosines, b_offsets).T for _, cosines in _slices(a, b)]
    expected = a.expectations @ interpolation(b_offsets.diff()).T
    return corrected(torch.cat(best), expected)


def _slices(a: SentenceVectors, b: SentenceVectors) -> Iterator[tuple[int, Tensor]]:
    """The cosines (sentences b, slice of a), with the number of the slice's first sentence."""
    for start in range(0, len(a), SLICE):
        yield start, b.vectors @ a.vectors[start : start + SLICE].T


def collection_scores(
    query: SentenceVectors, documents: SentenceVectors, offsets: Tensor, room: int = 1 << 25
) -> Tensor:
    """The sentence score of one document with every document of a collection, both directions averaged: (documents,).

    `documents` holds the sentences of all documents, which begin at `offsets`. Documents are taken together until the
    product reaches `room` cells.
    """
    size = len(query)
    backward_weights = interpolation(torch.tensor([size], device=query.vectors.device))[0]
    results = []
    for first, last in _document_slices(offsets.tolist(), room // max(1, size)):
        local = offsets[first : last + 1]
        rows = slice(int(local[0]), int(local[-1]))
        local = local - local[0]
        cosines = documents.vectors[rows] @ query.vectors.T.to(documents.vectors.dtype)  # (sentences, query sentences)
        expected = interpolation(local.diff()) @ query.expectations.T
        forward = corrected(segment_max(cosines, local).float(), expected).mean(1)
        best = corrected(cosines.amax(1).float(), documents.expectations[rows] @ backward_weights)
        backward = segment_mean(best[:, None], local)[:, 0]
        results.append((forward + backward) / 2)
    return torch.cat(results) if results else torch.empty(0)


def _document_slices(offsets: list[int], rows: int) -> Iterator[tuple[int, int]]:
    """Runs of documents of at most `rows` sentences together; a longer document is a run by itself."""
    first = 0
    for last in range(1, len(offsets)):
        if last == len(offsets) - 1 or offsets[last + 1] - offsets[first] > rows:
            yield first, last
            first = last
