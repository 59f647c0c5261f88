"""Reading a batch of chunks: without padding, or those of about one length together, so that there is little of it."""

from torch import Tensor

from longmatch.encoders.packed import forward_packed, pool_packed, uses_packing
from longmatch.encoders.transfer import to_device
from longmatch.lab.papers.colde.batch import ChunkBatch, Layout
from longmatch.lab.papers.colde.encoder import ColdeModel, ColdeOutput


def layout(model: ColdeModel, specials: tuple[int, int], max_tokens: int | None = None) -> Layout:
    """How documents are cut for a model; without augmentation a document is one section."""
    sections = model.config.sections if model.config.augmented else 1
    return Layout(sections, model.chunk_limit, specials, max_tokens)


def read_chunks(model: ColdeModel, batch: ChunkBatch) -> Tensor:
    """One vector a chunk, in the batch's order: (chunks, backbone width)."""
    if uses_packing(model.backbone):
        added = model.added_to_words(to_device(batch.section, batch.device), to_device(batch.place, batch.device))
        return pool_packed(forward_packed(model.backbone, batch.text, added), batch.text)

    def encode(ids: Tensor, mask: Tensor, rows: Tensor) -> Tensor:
        section, place = (to_device(numbers[rows], batch.device) for numbers in (batch.section, batch.place))
        return model.encode_chunks(ids, mask.long(), section, place)

    return batch.text.encode_each(encode)


def read(model: ColdeModel, batch: ChunkBatch) -> ColdeOutput:
    """The vectors of a batch at every level."""
    return model.aggregate(read_chunks(model, batch), batch.section, batch.document)
