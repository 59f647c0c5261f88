"""The combined score of a batch's documents: words, phrases, best partners of sentences, the documents' means,
and sentences that say what a title says.

The loss is taken on the sum, so that the backbone is pulled to where the lexical sides are wrong and left alone where
they are right.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from longmatch.default.sides import TITLE_SENTENCES as SAYING

FLOOR = 0.01  # added to a cosine before its logarithm is taken


@dataclass(frozen=True)
class Titles:
    """The titles of a batch's documents, and further sentences that may say what they say."""

    telling: Tensor  # (first, sentences, width)
    present: Tensor  # (first, sentences)
    vectors: Tensor  # (documents with a title, width)
    titled: Tensor  # (documents,)
    trust: float


class CombinedScore(nn.Module):
    """A weight for each side, learnt along: logarithms of cosines over words and phrases, and cosines of vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.lexical = nn.Parameter(torch.tensor([2.0, 0.5]))
        self.meaning = nn.Parameter(torch.tensor(12.0))
        self.topic = nn.Parameter(torch.tensor(4.0))
        self.told = nn.Parameter(torch.tensor(8.0))

    def forward(self, vectors: Tensor, present: Tensor, lexical: Tensor, titles: Titles | None = None) -> Tensor:
        """Of the first documents with all: `vectors` (documents, sentences, width), `lexical` (2, first, documents)."""
        first = lexical.shape[1]
        meaning = best_partner_scores(vectors[:first], present[:first], vectors, present)
        topic = mean_scores(vectors, present, first)
        words = torch.einsum("s,sad->ad", self.lexical, (lexical + FLOOR).log())
        found = words + self.meaning * meaning + self.topic * topic
        if titles is None:
            return found
        return found + titles.trust * self.told * told_scores(vectors[:first], present[:first], titles)


def best_partner_scores(a: Tensor, a_present: Tensor, b: Tensor, b_present: Tensor) -> Tensor:
    """The mean cosine of each sentence's best partner, both directions averaged: (documents of a, of b)."""
    cosines = torch.einsum("asw,btw->abst", a, b).float()  # (documents, documents, sentences, sentences)
    for_a = cosines.masked_fill(~b_present[None, :, None, :], -1.0).amax(3)
    for_b = cosines.masked_fill(~a_present[:, None, :, None], -1.0).amax(2)
    return (_mean(for_a, a_present[:, None, :]) + _mean(for_b, b_present[None, :, :])) / 2


def mean_scores(vectors: Tensor, present: Tensor, first: int) -> Tensor:
    """The cosine of the documents' mean vectors: (first, documents)."""
    means = nn.functional.normalize((vectors.float() * present[..., None]).sum(1), dim=1)
    return means[:first] @ means.T


def told_scores(vectors: Tensor, present: Tensor, titles: Titles) -> Tensor:
    """The mean of the best cosines of sentences, telling ones too, with each document's title: (first, documents).

    A document without a title has the mean of the others, so that it stands neither before nor behind them.
    """
    sentences, there = torch.cat([vectors, titles.telling], 1), torch.cat([present, titles.present], 1)
    cosines = torch.einsum("asw,tw->ast", sentences, titles.vectors).float()
    nearest = cosines.masked_fill(~there[..., None], -1.0).topk(min(SAYING, cosines.shape[1]), dim=1)
    best = nearest.values.mean(1)  # (first, documents with a title)
    found = best.mean(1, keepdim=True).repeat(1, len(titles.titled))
    found[:, titles.titled] = best
    return found


def _mean(values: Tensor, present: Tensor) -> Tensor:
    return (values * present).sum(2) / present.sum(2).clamp(min=1)
