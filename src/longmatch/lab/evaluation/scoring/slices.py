"""Stored sentence vectors in slices of many documents, on the scoring device."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.evaluation.encodings.layers import scoring_device
from longmatch.lab.store.files import StoredLayer
from longmatch.models.sdr.score import Unit

CPU_SENTENCES, GPU_SENTENCES = 1 << 18, 1 << 22  # 400 MB and 6 GB of vectors 384 wide


@dataclass(frozen=True)
class Slice:
    """Consecutive documents: first to last (exclusive)."""

    first: int
    last: int
    stored: StoredLayer

    def array(self, name: str) -> np.ndarray:
        """An array of all its documents."""
        return self.stored.array(name, self.first, self.last)

    def vectors(self) -> Tensor:
        """The sentence vectors: (sentences, width)."""
        return torch.from_numpy(self.array("vectors")).to(scoring_device(), torch.float32)

    def lengths(self) -> Tensor:
        """How many sentences each document has."""
        return torch.from_numpy(np.diff(self.stored.bounds("vectors")[self.first : self.last + 1]))

    def offsets(self) -> Tensor:
        """Where each document's sentences begin."""
        return _from_zero(self.lengths())

    def units(self, unit: Unit) -> tuple[Tensor, Tensor]:
        """Where each paragraph or section begins in the sentences, and each document in these units."""
        documents = torch.repeat_interleave(torch.arange(self.last - self.first), self.lengths()).numpy()
        numbers = self.array(unit)
        new = np.ones(len(numbers), dtype=bool)
        new[1:] = (np.diff(numbers) != 0) | (np.diff(documents) != 0)
        starts = np.flatnonzero(new)
        counts = np.bincount(documents[starts], minlength=self.last - self.first)
        ends = torch.from_numpy(np.append(starts, len(numbers)))
        return ends, _from_zero(torch.from_numpy(counts))


def slices_of(stored: StoredLayer, limit: int | None = None) -> list[Slice]:
    """Group shards until a slice would have more sentences than fit; a shard alone may have more."""
    room = limit or (CPU_SENTENCES if scoring_device().type == "cpu" else GPU_SENTENCES)
    bounds, slices = stored.bounds("vectors"), list[Slice]()
    for first, last in stored.ranges:
        if slices and bounds[last] - bounds[slices[-1].first] <= room:
            slices[-1] = Slice(slices[-1].first, last, stored)
        else:
            slices.append(Slice(first, last, stored))
    return slices


def _from_zero(lengths: Tensor) -> Tensor:
    return torch.cat([torch.zeros(1, dtype=torch.long), lengths.long().cumsum(0)]).to(scoring_device())
