"""Batches as a plain collator makes them: every piece padded to the longest."""

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.papers.gpu.workload import DEVICE
from longmatch.lab.papers.colde.augmentation import SPECIALS, ChunkBatch
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.smith.batch import BlockBatch
from longmatch.lab.papers.smith.encoder import SmithModel

CHUNK = 512


@dataclass(frozen=True)
class PaddedChunks:
    """CoLDE's chunks: (documents, chunks, 512)."""

    ids: Tensor
    mask: Tensor
    section: Tensor
    position: Tensor

    @staticmethod
    def of(batch: ChunkBatch) -> "PaddedChunks":
        """The same chunks, padded."""
        counts = torch.unique_consecutive(batch.document, return_counts=True)[1].tolist()
        shape = len(counts), max(counts)
        ids, mask = torch.zeros((*shape, CHUNK), dtype=torch.long), torch.zeros((*shape, CHUNK), dtype=torch.long)
        section, position = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
        texts = iter(batch.text.ids.split(batch.text.lengths.tolist()))
        numbers = zip(batch.section.split(counts), batch.position.split(counts), strict=True)
        for row, (sections, positions) in enumerate(numbers):
            section[row, : len(sections)], position[row, : len(positions)] = sections, positions
            for column in range(len(sections)):
                text = next(texts)
                ids[row, column, : len(text)], mask[row, column, : len(text)] = text, 1
        return PaddedChunks(ids, mask, section, position)

    def pieces(self, budget: int) -> list["PaddedChunks"]:
        """Groups of as many documents as fit the token budget."""
        size = max(1, budget // self.ids[0].numel())
        parts = [values.to(DEVICE).split(size) for values in (self.ids, self.mask, self.section, self.position)]
        return [PaddedChunks(*group) for group in zip(*parts, strict=True)]

    def vectors(self, model: ColdeModel) -> Tensor:
        """Section vectors; padding goes through the backbone like everything else and is dropped after it."""
        mask = self.mask.flatten(0, 1)
        seen = _attended(mask)
        chunks = model.encode_chunks(self.ids.flatten(0, 1), seen, self.section.flatten(), self.position.flatten())
        real = mask.any(1)
        document = torch.arange(len(self.ids), device=DEVICE).repeat_interleave(self.ids.shape[1])
        section, lengths = self.section.flatten()[real], mask.sum(1)[real] - SPECIALS
        sections: Tensor = model.aggregate(chunks[real], section, document[real], lengths).sections
        return sections


@dataclass(frozen=True)
class PaddedBlocks:
    """SMITH's blocks: (documents, blocks, tokens)."""

    ids: Tensor
    mask: Tensor

    @staticmethod
    def of(batch: BlockBatch) -> "PaddedBlocks":
        """The same blocks, padded."""
        shape = len(batch), int(batch.counts.max()), int(batch.text.lengths.max())
        ids, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
        texts = iter(batch.text.ids.split(batch.text.lengths.tolist()))
        for row, count in enumerate(batch.counts.tolist()):
            for column in range(count):
                text = next(texts)
                ids[row, column, : len(text)], mask[row, column, : len(text)] = text, 1
        return PaddedBlocks(ids, mask)

    def pieces(self, budget: int) -> list["PaddedBlocks"]:
        """Groups of as many documents as fit the token budget."""
        size = max(1, budget // self.ids[0].numel())
        parts = zip(self.ids.to(DEVICE).split(size), self.mask.to(DEVICE).split(size), strict=True)
        return [PaddedBlocks(*group) for group in parts]

    def vectors(self, model: SmithModel) -> Tensor:
        """Document vectors; padding goes through the sentence level like everything else and is dropped after it."""
        mask = self.mask.flatten(0, 1)
        blocks = model.block_vectors(model.encode_tokens(self.ids.flatten(0, 1), _attended(mask)), _attended(mask))
        real = self.mask.any(2)
        position = torch.arange(real.shape[1], device=DEVICE).expand_as(real)[real]
        documents: Tensor = model.aggregate(blocks[real.flatten()], position, real.sum(1).cpu()).documents
        return documents


def _attended(mask: Tensor) -> Tensor:
    """The mask with at least one token per piece: attention over nothing gives NaN."""
    return mask.index_fill(1, torch.tensor([0], device=DEVICE), 1)
