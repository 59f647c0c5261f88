"""What similarity to expect by chance, from vectors of unrelated passages.

A sentence finds a partner of cosine 0.3 to 0.6 in any long document, and a better one the longer that document is. So
every best cosine is compared with the best one would find among as many unrelated sentences:

    corrected = (cosine - expected) / (1 - expected)

which is 0 for an unrelated document, whatever its length, and 1 for a sentence found word for word.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
"""The numbers of sentences for which expectations are tabled; between them, interpolation in the logarithm."""


@dataclass(frozen=True)
class Background:
    """Vectors of unrelated sentences: (sentences, width), each of length 1; equally many of each kind of text."""

    vectors: Tensor
    kinds: int = 1  # of text: papers, judgments, ...

    @property
    def general(self) -> Tensor:
        """The sentences of general text, which come first."""
        return self.vectors[: len(self.vectors) // self.kinds]

    def expectations(self, vectors: Tensor, rows: int = 4096) -> Tensor:
        """For each vector, the best cosine to expect among SIZES unrelated sentences: (units, len(SIZES)).

        The expected maximum of m draws from n sorted values v is the sum of v_k ((k/n)^m - ((k-1)/n)^m). They are drawn
        from the kind of text that offers most: what every paper says is no surprise between two papers.
        """
        kinds = self.vectors.unflatten(0, (self.kinds, -1))
        count = kinds.shape[1]
        ranks = torch.arange(count + 1, dtype=torch.float64, device=vectors.device) / count
        powers = ranks[:, None] ** torch.tensor(SIZES, dtype=torch.float64, device=vectors.device)
        weights = powers.diff(dim=0).to(vectors.dtype)  # (sentences, sizes)

        def expected(part: Tensor) -> Tensor:
            return torch.stack([(part @ kind.T).sort(dim=1).values @ weights for kind in kinds]).amax(0)

        parts = [expected(part) for part in vectors.split(rows)]
        return torch.cat(parts) if parts else vectors.new_zeros((0, len(SIZES)))

    def carried(self, before: Tensor, after: Tensor, ridge: float = 1e-3) -> "Background":
        """The unrelated sentences as a changed backbone sees them, though their texts are not kept.

        `before` and `after` are vectors of other sentences (sentences, width) without and with the change. The linear
        map that takes the ones nearest to the others is applied; what few sentences cannot tell is left as it was.
        """
        grams = before.T @ before + ridge * len(before) * torch.eye(before.shape[1])
        moves = torch.linalg.solve(grams, before.T @ (after - before))  # (width, width)
        return replace(self, vectors=torch.nn.functional.normalize(self.vectors + self.vectors @ moves, dim=1))


def interpolation(sizes: Tensor) -> Tensor:
    """Weights over SIZES for documents of `sizes` sentences: (documents, len(SIZES)).

    >>> interpolation(torch.tensor([4, 8]))[:, :3].tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    """
    place = sizes.clamp(min=1).float().log2() / 2  # SIZES are powers of four
    low = place.floor().clamp(max=len(SIZES) - 2)
    high = (place - low).clamp(max=1.0)
    weights = torch.zeros((len(sizes), len(SIZES)), device=sizes.device)
    weights.scatter_(1, low.long()[:, None], (1 - high)[:, None])
    weights.scatter_(1, low.long()[:, None] + 1, high[:, None])
    return weights


def corrected(best: Tensor, expected: Tensor) -> Tensor:
    """How far a best cosine lies between what chance gives (0) and identity (1)."""
    return (best - expected) / (1 - expected).clamp(min=1e-6)
