"""What SMITH knows of one document: a vector a block from the sentence level, and the document's."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.lab.papers.smith.batch import Layout
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.papers.smith.reading import read_blocks
from longmatch.matching.align import Ints
from longmatch.matching.match import Grid, Level
from longmatch.matching.sentence_vectors import best_cosine_grid
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import pieces_from
from longmatch.units.tokens import Tokens

TOKENS = 65_536  # read together
BLOCKS = 4_096  # that the document level reads together, when blocks are left out


@dataclass(frozen=True)
class SmithEncoding:
    """A document's blocks with their vectors, of length 1 as the document's own is."""

    blocks: Sentences  # spans and headings of the blocks that were read
    vectors: Tensor  # (blocks, width) by the sentence level
    vector: Tensor  # (width,)
    coverage: float

    @property
    def document(self) -> Document:
        """The document itself."""
        return self.blocks.document


def cosine_grid(a: SmithEncoding, b: SmithEncoding, level: Level) -> Grid:
    """Blocks, the finest level there is, or sections by what their blocks find in each other."""
    return best_cosine_grid((a.blocks, a.vectors), (b.blocks, b.vectors), level)


@torch.no_grad()
def encode_tokens(model: SmithModel, layout: Layout, documents: Sequence[Tokens]) -> Iterator[SmithEncoding]:
    """Encode documents, each alone: blocks of many of them in batches by length, then each document's own."""
    place = next(model.parameters()).device
    left = iter(documents)
    for group in layout.lay_out(documents).groups(TOKENS):
        vectors = read_blocks(model, group.to(place))
        found = model.aggregate(vectors, group.place.to(place), group.counts).documents.float().cpu()
        for vector, mine in zip(found, vectors.float().cpu().split(group.counts.tolist()), strict=True):
            tokens = next(left)
            first, last = layout.ranges(tokens)
            read = int((last - first).sum()) / len(tokens)
            yield SmithEncoding(Sentences.of(pieces_from(tokens, first, last)), mine.clone(), vector.clone(), read)


@torch.no_grad()
def variants(model: SmithModel, encoding: SmithEncoding, kept: Sequence[Ints]) -> Tensor:
    """The document's vector had it only some of its blocks, for each choice of blocks; 0 where none is left.

    The blocks that are left stay at their places, and the first of them speaks for the document.
    """
    device = next(model.parameters()).device
    vectors, found = encoding.vectors.to(device), torch.zeros(len(kept), len(encoding.vector))
    filled = [number for number, chosen in enumerate(kept) if len(chosen)]
    size = max(1, BLOCKS // max([1, *(len(chosen) for chosen in kept)]))
    for start in range(0, len(filled), size):
        numbers = filled[start : start + size]
        rows = torch.from_numpy(np.concatenate([kept[number] for number in numbers])).to(device)
        counts = torch.tensor([len(kept[number]) for number in numbers])
        found[numbers] = model.aggregate(vectors[rows], rows, counts).documents.float().cpu()
    return found
