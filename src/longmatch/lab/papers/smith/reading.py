"""Reading a batch of blocks: without padding, or those of about one length together, so that there is little of it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from longmatch.encoders.packed import packs, pooled, read_packed
from longmatch.encoders.transfer import moved
from longmatch.lab.papers.smith.batch import BlockBatch, Layout, MaskedBatch
from longmatch.lab.papers.smith.encoder import SmithModel, SmithOutput
from longmatch.lab.papers.smith.pretraining_heads import SmithForPretraining
from longmatch.lab.training.masked_words import IGNORED


def layout(model: SmithModel, specials: tuple[int, int]) -> Layout:
    """How documents are cut for a model."""
    return Layout(model.block_limit, int(model.config.max_blocks), specials, bool(model.config.cut_long))


def read_blocks(model: SmithModel, batch: BlockBatch) -> Tensor:
    """One vector of length 1 a block, in the batch's order: (blocks, width)."""
    if packs(model.sentence_level):
        states = read_packed(model.sentence_level, batch.text)
        return model.block_vectors(pooled(states, batch.text, "cls")[:, None])
    return batch.text.each(lambda ids, mask, _: model.block_vectors(model.read_tokens(ids, mask.long())))


def read(model: SmithModel, batch: BlockBatch) -> SmithOutput:
    """The vectors of a batch's documents."""
    return model.aggregate(read_blocks(model, batch), batch.place, batch.counts)


@dataclass(frozen=True)
class Guesses:
    """What the model says of what is hidden, and what stands there, in the batch's order."""

    predicted: Tensor  # (hidden blocks, width) by the document level
    original: Tensor  # (hidden blocks, width) by the sentence level
    words: Tensor  # (hidden words, width) their tokens' vectors


def read_masked(model: SmithForPretraining, batch: MaskedBatch) -> Guesses:
    """One pass over the masked words serves both tasks: the blocks to be picked out are read with words hidden too."""
    packed = packs(model.smith.sentence_level)
    blocks, words = (_masked_packed if packed else _masked_by_length)(model, batch)
    places = batch.block_places
    original = predicted = blocks.index_select(0, places)
    if len(original):
        predicted = model.guess_blocks(blocks, places, batch.blocks.place, batch.blocks.counts)
    return Guesses(predicted, original, words)


def _masked_packed(model: SmithForPretraining, batch: MaskedBatch) -> tuple[Tensor, Tensor]:
    """The vectors of all blocks, and of the hidden words' tokens."""
    text = batch.blocks.text
    states = read_packed(model.smith.sentence_level, text)
    return model.smith.block_vectors(pooled(states, text, "cls")[:, None]), states.index_select(
        0, batch.word_places
    ).float()


def _masked_by_length(model: SmithForPretraining, batch: MaskedBatch) -> tuple[Tensor, Tensor]:
    """The same, blocks of about one length padded together."""
    order, vectors, where, words = [], [], [], []
    text, all_words = batch.blocks.text, moved(batch.words, batch.blocks.device)
    for rows, places, mask in text.by_length():
        states = model.smith.read_tokens(text.ids[places] * mask, mask.long())
        hidden = mask & (all_words[places] != IGNORED)
        order.append(rows)
        vectors.append(model.smith.block_vectors(states))
        where.append(places[hidden])
        words.append(states[hidden])
    blocks = torch.cat(vectors)[moved(torch.cat(order).argsort(), batch.blocks.device)]
    return blocks, torch.cat(words).float()[torch.cat(where).argsort()]
