"""SMITH as a matcher, explained by the vectors that the sentence level gives the blocks of both documents.

- documents: the cosine of the two document vectors, clipped at 0;
- blocks: the cosine of their vectors from the sentence level, before the document level contextualises them;
- sections: the best cosines of their blocks averaged (see `best_cosine_grid`).

The document vector is not a sum over blocks: a transformer reads them, and its first output, or the mean of all, is the
document's. Contributions are measured instead: the document level reads the document again without a block, and the
block alone, every block at its own position (see `ablation_contributions`). A contribution is credited to the pair of
the block and its most similar block in the other document.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.explanation import (
    ablation_contributions,
    best_cosine_grid,
    explained_match,
    nearest_evidence,
    vectors_of_subsets,
)
from longmatch.lab.matchers import TrainedMatcher
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.matching.align import Floats, Ints
from longmatch.matching.match import Coverage, Match
from longmatch.matching.sentences import Sentences
from longmatch.units import Tokens
from longmatch.units.pieces import pieces_from

TOKENS = 65_536  # encoded together
BLOCKS = 4_096  # of subsets, aggregated together


@dataclass(frozen=True)
class SmithEncoding:
    """The unit vectors of a document and its blocks."""

    blocks: Sentences  # spans and headings of the encoded blocks
    vectors: Tensor  # (blocks, width) by the sentence level
    vector: Tensor  # (width,)
    coverage: float


def contributions(model: SmithModel, source: SmithEncoding, target: SmithEncoding) -> Floats:
    """How much of the cosine each block of `source` contributes, at least 0: (blocks,).

    Blocks keep their positions; with `document_pooling=first`, the first block of a subset represents the document.
    """

    def encode(rows: Tensor, counts: Tensor) -> Tensor:
        return model.aggregate(source.vectors[rows].to(model.device), rows.to(model.device), counts).documents

    def subset_vectors(subsets: Sequence[Ints]) -> Tensor:
        return vectors_of_subsets(subsets, len(source.vector), BLOCKS, encode)

    return ablation_contributions(source.vector, target.vector, len(source.vectors), subset_vectors)


class SmithMatcher(TrainedMatcher[SmithEncoding]):
    """The cosine of one vector per document, explained by its blocks.

    Documents are truncated to the model's number of blocks; `coverage` is the share that was read.
    """

    name = "smith"
    Model = SmithModel
    model: SmithModel

    def __init__(self, model: SmithModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.layout = model.layout(special_tokens(tokenizer, self.name))

    @property
    def reads(self) -> str:
        """How much of a long document is read."""
        blocks = int(self.model.config.max_blocks)
        cut = "; longer sentences are truncated" if self.layout.cut_long else ""
        return f"the first {blocks} blocks of a document, {blocks * self.layout.limit:,} tokens at most{cut}"

    @torch.no_grad()
    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterator[SmithEncoding]:
        """Encode documents independently: the blocks of many of them together, then each document."""
        remaining = iter(documents)
        for group in self.layout.lay_out(documents).groups(TOKENS):
            blocks = self.model.encode_batch_blocks(group.to(self.device))
            vectors = self.model.aggregate(blocks, group.position.to(self.device), group.counts).documents.float().cpu()
            for vector, rows in zip(vectors, blocks.float().cpu().split(group.counts.tolist()), strict=True):
                tokens = next(remaining)
                first, last = self.layout.ranges(tokens)
                coverage = int((last - first).sum()) / len(tokens)
                yield SmithEncoding(
                    Sentences.of(pieces_from(tokens, first, last)), rows.clone(), vector.clone(), coverage
                )

    @torch.no_grad()
    def explain(self, a: SmithEncoding, b: SmithEncoding, collection: Tensor | None = None) -> Match:
        """Compare two documents at the levels of document, section and block.

        Only a fine-tuned model gives a probability.
        """
        cosine, vectors, threshold = a.vector @ b.vector, (a.vectors, b.vectors), self.threshold
        return explained_match(
            (a.blocks, b.blocks),
            vectors,
            nearest_evidence(vectors, (contributions(self.model, a, b), contributions(self.model, b, a))),
            lambda level: best_cosine_grid((a.blocks, a.vectors), (b.blocks, b.vectors), level),
            score=float(cosine.clamp(0, 1)),
            model=self.name,
            threshold=threshold,
            probability=None if threshold is None else float(self.model.logits(cosine.to(self.device)).sigmoid()),
            coverage=Coverage(a.coverage, b.coverage),
        )
