"""SMITH as a matcher, explained by the vectors that the sentence level gives the blocks of both documents.

- documents: the cosine of the two document vectors, clipped at 0;
- blocks: the cosine of their vectors from the sentence level, before the document level contextualises them;
- sections: the best cosines of their blocks averaged (see `best_cosine_grid`).

The document vector is not a sum over blocks: a transformer reads them, and its first output, or the mean of all, is the
document's. Contributions are measured instead: the document level reads the document again without a block, and the
block alone, every block at its own position (see `ablation_contributions`). A contribution is credited to the pair of
the block and its most similar block in the other document.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document
from longmatch.errors import LongmatchWarning
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.matchers import TrainedMatcher, ablation_contributions
from longmatch.lab.papers.smith.encoder import BlockLayout, SmithModel, open_smith
from longmatch.matching.align import Evidence, Floats, Ints, alignments, merge
from longmatch.matching.match import Coverage, Grid, Level, Match
from longmatch.matching.matcher import Progress
from longmatch.matching.sentence_vectors import best_cosine_grid, pair_cosines
from longmatch.matching.sentences import Sentences
from longmatch.units import Tokens
from longmatch.units.pieces import pieces_from

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
def encode_documents(model: SmithModel, layout: BlockLayout, documents: Sequence[Tokens]) -> Iterator[SmithEncoding]:
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


def explain_pair(model: SmithModel, a: SmithEncoding, b: SmithEncoding, name: str) -> Match:
    """Compare two documents; only a fine-tuned model gives a probability. `name` is the matcher's."""
    cosine = a.vector @ b.vector
    is_fine_tuned = model.config.threshold is not None
    return Match(
        a=a.document,
        b=b.document,
        score=float(cosine.clamp(0, 1)),
        sections=cosine_grid(a, b, "sections"),
        alignments=alignments(
            merge([_block_evidence(model, a, b)], [_block_evidence(model, b, a)]),
            (a.blocks.passage, b.blocks.passage),
            lambda i, j: pair_cosines(a.vectors, b.vectors, i, j),
            lambda i, j: (),
        ),
        model=name,
        threshold=model.config.threshold,
        probability=float(model.logits(cosine.to(model.scale.device)).sigmoid()) if is_fine_tuned else None,
        coverage=Coverage(a.coverage, b.coverage),
        parts={"meaning": 1.0},
        grids=lambda level: cosine_grid(a, b, level),
    )


def contributions(model: SmithModel, source: SmithEncoding, target: SmithEncoding) -> Floats:
    """How much of the cosine each block of `source` contributes, at least 0: (blocks,)."""
    return ablation_contributions(
        source.vector, target.vector, len(source.vectors), lambda subsets: subset_vectors(model, source, subsets)
    )


def _block_evidence(model: SmithModel, source: SmithEncoding, target: SmithEncoding) -> Evidence:
    """The contribution of each block, and the block of the other document most similar to it."""
    nearest = (source.vectors @ target.vectors.T).argmax(1)
    return Evidence(nearest.numpy(), contributions(model, source, target))


class SmithMatcher(TrainedMatcher[SmithEncoding]):
    """The cosine of one vector per document, explained by its blocks.

    Documents are truncated to the model's number of blocks; `coverage` is the share that was read.
    """

    name = "smith"
    model: SmithModel

    def __init__(self, model: SmithModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.layout = model.layout(special_tokens(tokenizer, self.name))
        self._warned = False

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None, precision: Precision | None = None) -> "SmithMatcher":
        """Open a folder written by `longmatch train smith` or `longmatch train smith-pretrain`."""
        model: Any
        model, tokenizer = open_smith(folder)
        target = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        return cls(model.to(target), tokenizer, precision)

    @property
    def width(self) -> int:
        """Dimensions of a document vector."""
        return int(self.model.width)

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[SmithEncoding]:
        """Encode documents independently, and warn once if one is truncated."""
        encodings = super().encode(documents, progress)
        self._warn(encodings)
        return encodings

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterable[SmithEncoding]:
        """Encode documents independently."""
        return encode_documents(self.model, self.layout, documents)

    @torch.no_grad()
    def explain(self, a: SmithEncoding, b: SmithEncoding, collection: Tensor | None = None) -> Match:
        """Compare two documents at the levels of document, section and block."""
        return explain_pair(self.model, a, b, self.name)

    def _warn(self, encodings: Sequence[SmithEncoding]) -> None:
        """Warn the first time a document is truncated."""
        if not self._warned and any(e.coverage < 1 for e in encodings):
            self._warned = True
            blocks = int(self.model.config.max_blocks)
            cut = "; longer sentences are truncated" if self.layout.cut_long else ""
            warnings.warn(
                f"The model {self.name} reads the first {blocks} blocks of a document, "
                f"{blocks * self.layout.limit:,} tokens at most{cut}.",
                LongmatchWarning,
                stacklevel=3,
            )
