"""What similarity to expect by chance, from vectors of unrelated passages.

A sentence finds a partner of cosine 0.3 to 0.6 in any long document, and a better one the longer that document is. So
every best cosine is compared with the best one would find among as many unrelated sentences:

    corrected = (cosine - expected) / (1 - expected)

which is 0 for an unrelated document, whatever its length, and 1 for a sentence found word for word.
"""

from dataclasses import dataclass, replace

import numpy as np

from longmatch.ragged import Array, array_namespace, unit_rows

SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
"""The numbers of sentences for which expectations are tabled; between them, interpolation in the logarithm."""

MOST_DRAWN, STEP = 16, 0.9  # as the sentences that are shipped for MiniLM show, of which there are many


@dataclass(frozen=True)
class Background:
    """Vectors of unrelated sentences: (sentences, width), each of length 1; equally many of each kind of text."""

    vectors: Array
    kinds: int = 1  # of text: papers, judgments, ... or of languages
    extrapolates: bool = False  # beyond MOST_DRAWN, where there are few sentences of a kind
    name: str = ""  # identifies what was encoded, where the vectors' last digits depend on the processor

    @property
    def general(self) -> Array:
        """The sentences of general text, which come first."""
        return self.vectors[: len(self.vectors) // self.kinds]

    def expectations(self, vectors: Array, rows: int = 1024) -> Array:
        """For each vector, the best cosine to expect among SIZES unrelated sentences: (units, len(SIZES)).

        The expected maximum of m draws from n sorted values v is the sum of v_k ((k/n)^m - ((k-1)/n)^m). They are drawn
        from the kind of text that offers most: what every paper says is no surprise between two papers.
        """
        xp = array_namespace(vectors)
        count = len(self.vectors) // self.kinds
        ranks = np.arange(count + 1) / count
        weights = np.diff(ranks[:, None] ** np.array(SIZES, dtype=np.float64), axis=0)  # (sentences, sizes)
        weights = xp.asarray(weights, dtype=vectors.dtype, device=vectors.device)
        kinds = [self.vectors[start : start + count] for start in range(0, len(self.vectors), count)]

        def expected(part: Array) -> Array:
            found = xp.max(xp.stack([xp.sort(part @ kind.T, axis=1) @ weights for kind in kinds]), axis=0)
            return extrapolated(found) if self.extrapolates else found

        parts = [expected(vectors[start : start + rows]) for start in range(0, len(vectors), rows)]
        return xp.concat(parts) if parts else xp.zeros((0, len(SIZES)), dtype=vectors.dtype, device=vectors.device)

    def carried(self, before: Array, after: Array, ridge: float = 1e-3) -> "Background":
        """The unrelated sentences as a changed backbone sees them, though their texts are not kept.

        `before` and `after` are vectors of other sentences (sentences, width) without and with the change. The linear
        map that takes the ones nearest to the others is applied; what few sentences cannot tell is left as it was.
        """
        grams = before.T @ before + ridge * len(before) * np.eye(before.shape[1], dtype=before.dtype)
        moves = np.linalg.solve(grams, before.T @ (after - before))  # (width, width)
        return replace(self, vectors=unit_rows(self.vectors + self.vectors @ moves), name="")


def extrapolated(expected: Array) -> Array:
    """The expectations for more than MOST_DRAWN sentences by those for fewer: (units, len(SIZES)).

    Each step to four times as many sentences adds a little less than the one before.
    """
    xp = array_namespace(expected)
    columns = [expected[:, number] for number, size in enumerate(SIZES) if size <= MOST_DRAWN]
    while len(columns) < len(SIZES):
        columns.append((columns[-1] + STEP * (columns[-1] - columns[-2])).clip(max=1.0))
    return xp.stack(columns, axis=1)


def interpolation(sizes: Array) -> Array:
    """Weights over SIZES for documents of `sizes` sentences: (documents, len(SIZES)).

    >>> interpolation(np.array([4, 8]))[:, :3].tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    """
    xp = array_namespace(sizes)
    place = xp.log2(xp.astype(sizes.clip(min=1), xp.float32)) / 2  # SIZES are powers of four
    last = len(SIZES) - 1
    numbers = xp.arange(len(SIZES), dtype=xp.float32, device=sizes.device)
    return (1 - abs(place.clip(max=last)[:, None] - numbers)).clip(min=0)


def corrected(best: Array, expected: Array) -> Array:
    """How far a best cosine lies between what chance gives (0) and identity (1)."""
    return (best - expected) / (1 - expected).clip(min=1e-6)
