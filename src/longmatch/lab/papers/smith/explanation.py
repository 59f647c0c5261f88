"""SMITH's explanation as a Match, by the vectors that the sentence level gives the blocks of both documents.

- documents: the cosine of the two document vectors, clipped at 0;
- blocks: the cosine of their vectors from the sentence level, before the document level contextualises them;
- sections: the best cosines of their blocks averaged (see `best_cosine_grid`).

The document vector is not a sum over blocks: a transformer reads them, and its first output, or the mean of all, is the
document's. Contributions are measured instead: the document level reads the document again without a block, and the
block alone, every block at its own position (see `ablation_contributions`). A contribution is credited to the pair of
the block and its most similar block in the other document.
"""

from longmatch.lab.matchers import ablation_contributions
from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.papers.smith.encoding import SmithEncoding, cosine_grid, subset_vectors
from longmatch.matching.align import Evidence, Floats, alignments, merge
from longmatch.matching.match import Coverage, Match
from longmatch.matching.sentence_vectors import pair_cosines


def explain(model: SmithModel, a: SmithEncoding, b: SmithEncoding, name: str) -> Match:
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
