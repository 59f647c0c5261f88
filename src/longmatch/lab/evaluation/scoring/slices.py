"""Stored sentence vectors in slices of many documents, on the scoring device."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.evaluation.encodings.layers import scoring_device
from longmatch.lab.store.files import StoredLayer
from longmatch.models.sdr.score import Unit
from longmatch.ragged import offsets_of

CPU_SENTENCES, GPU_SENTENCES = 1 << 18, 1 << 22  # 400 MB and 6 GB of vectors 384 wide

T = TypeVar("T")


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

    def offsets(self) -> Tensor:
        """Where each document's sentences begin."""
        bounds = self.stored.bounds("vectors")[self.first : self.last + 1]
        return torch.from_numpy(bounds - bounds[0]).long().to(scoring_device())

    def units(self, unit: Unit) -> tuple[Tensor, Tensor]:
        """Where each paragraph or section begins in the sentences, and each document in these units."""
        lengths = np.diff(self.stored.bounds("vectors")[self.first : self.last + 1])
        document, number = np.repeat(np.arange(len(lengths)), lengths), self.array(unit)
        starts = np.flatnonzero((np.diff(number, prepend=-1) != 0) | (np.diff(document, prepend=-1) != 0))
        ends = torch.from_numpy(np.append(starts, len(number)))
        counts = np.bincount(document[starts], minlength=len(lengths))
        return ends, torch.from_numpy(offsets_of(counts)).to(scoring_device())


class LoadedSlices(Generic[T]):
    """What is made of each slice of a stored layer; that of a single slice stays loaded."""

    def __init__(self, stored: StoredLayer, load: Callable[[Slice], T]) -> None:
        self.slices, self._load, self._kept = slices_of(stored), load, list[T]()

    def __iter__(self) -> Iterator[tuple[Slice, T]]:
        for part in self.slices:
            loaded = self._kept[0] if self._kept else self._load(part)
            if len(self.slices) == 1:
                self._kept = [loaded]
            yield part, loaded


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
