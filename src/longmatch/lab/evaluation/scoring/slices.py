"""Stored sentence vectors in slices of many documents, on the device that scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.evaluation.encodings.layers import scoring_device
from longmatch.lab.evaluation.encodings.store import Shard, Stored

CPU_SENTENCES, GPU_SENTENCES = 1 << 18, 1 << 22  # 400 MB and 6 GB of vectors 384 wide


@dataclass(frozen=True)
class Slice:
    """Consecutive documents: first to last (exclusive)."""

    first: int
    last: int
    shards: tuple[Shard, ...]

    def array(self, name: str) -> np.ndarray:
        """An array of all its documents."""
        return np.concatenate([shard.array(name) for shard in self.shards])

    def vectors(self) -> Tensor:
        """The sentence vectors: (sentences, width)."""
        device = scoring_device()
        return torch.cat([torch.from_numpy(s.array("vectors")).to(device, torch.float32) for s in self.shards])

    def lengths(self, name: str = "vectors") -> Tensor:
        """How many rows each document has."""
        return torch.from_numpy(np.concatenate([np.diff(shard.offsets[name]) for shard in self.shards]))

    def offsets(self) -> Tensor:
        """Where each document's sentences begin."""
        return _from_zero(self.lengths())

    def paragraphs(self) -> tuple[Tensor, Tensor]:
        """Where each paragraph begins in the sentences, and each document in the paragraphs."""
        documents = torch.repeat_interleave(torch.arange(self.last - self.first), self.lengths()).numpy()
        numbers = self.array("paragraph")
        new = np.ones(len(numbers), dtype=bool)
        new[1:] = (np.diff(numbers) != 0) | (np.diff(documents) != 0)
        starts = np.flatnonzero(new)
        counts = np.bincount(documents[starts], minlength=self.last - self.first)
        ends = torch.from_numpy(np.append(starts, len(numbers)))
        return ends, _from_zero(torch.from_numpy(counts))


def slices_of(stored: Stored, limit: int | None = None) -> list[Slice]:
    """Group shards until a slice would have more sentences than fit; a shard alone may have more."""
    room = limit or (CPU_SENTENCES if scoring_device().type == "cpu" else GPU_SENTENCES)
    groups: list[list[Shard]] = []
    size = 0
    for shard in stored.shards:
        sentences = shard.offsets["vectors"][-1]
        if not groups or size + sentences > room:
            groups.append([])
            size = 0
        groups[-1].append(shard)
        size += sentences
    return [_slice(group) for group in groups]


def _slice(shards: Sequence[Shard]) -> Slice:
    return Slice(shards[0].first, shards[-1].first + len(shards[-1]), tuple(shards))


def _from_zero(lengths: Tensor) -> Tensor:
    return torch.cat([torch.zeros(1, dtype=torch.long), lengths.long().cumsum(0)]).to(scoring_device())
