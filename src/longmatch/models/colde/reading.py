"""Reading a batch of chunks: those of about one length together, so that little of the work is padding."""

import torch
from torch import Tensor

from longmatch.encoders.batches import token_batches
from longmatch.models.colde.batch import ChunkBatch, Layout
from longmatch.models.colde.model import ColdeModel, ColdeOutput

CPU_BUDGET, GPU_BUDGET = 2_048, 32_768  # tokens read side by side: small ones stay in a CPU's cache


def layout(model: ColdeModel, specials: tuple[int, int], max_tokens: int | None = None) -> Layout:
    """How documents are cut for a model; without augmentation a document is one section."""
    sections = model.config.sections if model.config.augmented else 1
    return Layout(sections, model.chunk_limit, specials, max_tokens)


def read_chunks(model: ColdeModel, batch: ChunkBatch) -> Tensor:
    """One vector a chunk, in the batch's order: (chunks, backbone width)."""
    budget = CPU_BUDGET if batch.ids.device.type == "cpu" else GPU_BUDGET
    rows = [torch.from_numpy(rows) for rows in token_batches(batch.lengths.numpy(), budget)]
    found = []
    for chosen in rows:
        there = chosen.to(batch.ids.device)
        found.append(model.encode_chunks(*batch.padded(chosen), batch.section[there], batch.place[there]))
    back = torch.cat(rows).argsort().to(batch.ids.device)
    return torch.cat(found)[back]


def read(model: ColdeModel, batch: ChunkBatch) -> ColdeOutput:
    """The vectors of a batch at every level."""
    return model.aggregate(read_chunks(model, batch), batch.section, batch.document)
