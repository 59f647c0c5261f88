"""Sentence vectors about two subtopics, each in two wordings that have nothing in common."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

WIDTH, EACH = 32, 6
X1, Y1, X2, Y2 = torch.eye(WIDTH)[:4]


def planted(pairs: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Vectors, sizes and labels. A match has both subtopics on either side, another pair a different one on either."""
    seeded = torch.Generator().manual_seed(seed)
    kinds = [((X1, Y1), (X2, Y2), 1), ((X1, X1), (Y2, Y2), 0), ((X1, Y1), (X2, Y2), 1), ((Y1, Y1), (X2, X2), 0)]
    chosen = [kinds[pair % 4] for pair in range(pairs)]
    means = torch.stack([axis for a, b, _ in chosen for axis in (*a, *b) for _ in range(EACH)])
    vectors = normalize(means + 0.1 * torch.randn(means.shape, generator=seeded), dim=1)
    return vectors, torch.full((pairs, 2), 2 * EACH), torch.tensor([label for *_, label in chosen])
