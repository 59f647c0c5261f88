"""The space of a collection: where documents lie among those they stand with.

What all documents of a collection are about says nothing about any two of them, and a direction in which they vary most
says least. So every number of a document's vector is counted from its mean over the collection, in units of its spread
there; the cosine of two documents that have nothing to do with each other is then about 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.ragged import Array, Floats, as_numbers, unit_rows

PAIR = 2  # documents that are compared: their own mean is no place to see them from
PRIOR_SPREAD = 10.0  # documents of a collection that the general spread counts for
LEAST_SPREAD = 1e-4

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Space:
    """The mean of documents' vectors of length 1, and how far each of their numbers varies: (width,) each."""

    centre: Floats
    spread: Floats

    @staticmethod
    def of(vectors: Array, general: "Space | None" = None) -> "Space":
        """Of a collection's documents (documents, width); of few, mostly what is `general`. Zeros are no vectors."""
        known = as_numbers(vectors[vectors.any(axis=1)])
        others = max(0, len(known) - PAIR)
        if general and not others:
            return general
        if not len(known):
            return Space(np.zeros(vectors.shape[1]), np.ones(vectors.shape[1]))
        centre, variance = known.mean(0), known.var(0)
        if general:
            unsure = variance.sum() / others  # of the mean, beside how far it is from the general one
            share = unsure / (unsure + ((centre - general.centre) ** 2).sum() + LEAST_SPREAD**2)
            centre = (1 - share) * centre + share * general.centre
            usual = general.spread**2 * variance.sum() / (general.spread**2).sum()  # as wide as the collection is
            variance = (others * variance + PRIOR_SPREAD * usual) / (others + PRIOR_SPREAD)
        return Space(centre.round(6), np.sqrt(np.maximum(variance, LEAST_SPREAD**2)).round(6))

    @staticmethod
    def mean(spaces: Sequence["Space"]) -> "Space":
        """What several kinds of text have in common: each counts alike, and what tells kinds apart is no spread."""
        centre = np.mean([space.centre for space in spaces], axis=0)
        return Space(centre, np.sqrt(np.mean([space.spread**2 for space in spaces], axis=0)))

    def place(self, vectors: Array) -> Vectors:
        """Documents' vectors (documents, width), or one, as they lie in the space: of length 1; zeros stay zeros."""
        placed = unit_rows((vectors - self.centre) / self.spread)
        return np.asarray(placed * vectors.any(axis=-1, keepdims=True), dtype=np.float32)

    def distances(self, vectors: Array) -> Floats:
        """How far documents lie from the centre: (documents,)."""
        return np.asarray(np.sqrt((((vectors - self.centre) / self.spread) ** 2).sum(-1)))

    def directions(self, vectors: Array) -> tuple[Vectors, Vectors]:
        """What the vectors u of others are multiplied with, and what is added, for their cosines with some `vectors`.

        directions @ u + starts are the cosines times the distance of u from the centre.
        """
        across = (self.place(vectors) / self.spread).astype(np.float32)
        return across, -(across @ self.centre).astype(np.float32)
