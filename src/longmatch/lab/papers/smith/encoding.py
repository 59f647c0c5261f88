"""One document encoded by SMITH: a vector per block from the sentence level, and the document vector."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.lab.papers.smith.batch import BlockLayout
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.matching.align import Ints
from longmatch.matching.match import Grid, Level
from longmatch.matching.sentence_vectors import best_cosine_grid
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import pieces_from
from longmatch.units.tokens import Tokens

TOKENS = 65_536  # encoded together
BLOCKS = 4_096  # aggregated together by `subset_vectors`


@dataclass(frozen=True)
class SmithEncoding:
    """The unit vectors of a document and its blocks."""

    blocks: Sentences  # spans and headings of the encoded blocks
    vectors: Tensor  # (blocks, width) by the sentence level
    vector: Tensor  # (width,)
    coverage: float

    @property
    def document(self) -> Document:
        """The document itself."""
        return self.blocks.document


def cosine_grid(a: SmithEncoding, b: SmithEncoding, level: Level) -> Grid:
    """The cosine of every pair of blocks; for sections, the best cosines of their blocks averaged."""
    return best_cosine_grid((a.blocks, a.vectors), (b.blocks, b.vectors), level)


@torch.no_grad()
def encode_tokens(model: SmithModel, layout: BlockLayout, documents: Sequence[Tokens]) -> Iterator[SmithEncoding]:
    """Encode documents independently: the blocks of many of them together, then each document."""
    device = next(model.parameters()).device
    remaining = iter(documents)
    for group in layout.lay_out(documents).groups(TOKENS):
        blocks = model.encode_batch_blocks(group.to(device))
        vectors = model.aggregate(blocks, group.position.to(device), group.counts).documents.float().cpu()
        for vector, rows in zip(vectors, blocks.float().cpu().split(group.counts.tolist()), strict=True):
            tokens = next(remaining)
            first, last = layout.ranges(tokens)
            coverage = int((last - first).sum()) / len(tokens)
            yield SmithEncoding(Sentences.of(pieces_from(tokens, first, last)), rows.clone(), vector.clone(), coverage)


@torch.no_grad()
def subset_vectors(model: SmithModel, encoding: SmithEncoding, subsets: Sequence[Ints]) -> Tensor:
    """The document vector recomputed from each subset of its blocks, 0 for an empty one: (subsets, width).

    Blocks keep their positions; with `document_pooling=first`, the first block of the subset represents the document.
    """
    device = next(model.parameters()).device
    vectors, result = encoding.vectors.to(device), torch.zeros(len(subsets), len(encoding.vector))
    filled = [number for number, subset in enumerate(subsets) if len(subset)]
    size = max(1, BLOCKS // max([1, *(len(subset) for subset in subsets)]))
    for start in range(0, len(filled), size):
        numbers = filled[start : start + size]
        rows = torch.from_numpy(np.concatenate([subsets[number] for number in numbers])).to(device)
        counts = torch.tensor([len(subsets[number]) for number in numbers])
        result[numbers] = model.aggregate(vectors[rows], rows, counts).documents.float().cpu()
    return result
