"""SMITH's explanation as a Match: blocks of two documents by what the sentence level makes of each.

- documents: the cosine of the two vectors, negative ones as 0;
- blocks: the cosine of their vectors, as the sentence level gives them before they see each other;
- sections: what their blocks find in each other (see `best_cosine_grid`).

The document's vector is no sum over blocks: a transformer stands between them, and it is read at the first block. What
a block carries is measured: the document level reads the document again without it, and it alone, every block at its
own place. Its contribution is the mean of the two differences, what it takes away from all the others and what it adds
to nothing, at least 0; it is credited to the pair it forms with the block most like it in the other document.
"""

import numpy as np

from longmatch.lab.papers.smith.encoder import SmithModel
from longmatch.lab.papers.smith.encoding import SmithEncoding, cosine_grid, variants
from longmatch.matching.align import Evidence, Floats, alignments, merge
from longmatch.matching.match import Coverage, Match
from longmatch.matching.sentence_vectors import pair_cosines

MOST_RUNS = 128  # blocks left out one at a time; of longer documents runs of neighbours are


def explain(model: SmithModel, a: SmithEncoding, b: SmithEncoding, name: str) -> Match:
    """Two documents compared. The chance that they belong together is told by a model that learned from pairs."""
    cosine = a.vector @ b.vector
    tuned = model.config.threshold is not None
    return Match(
        a=a.document,
        b=b.document,
        score=float(cosine.clamp(0, 1)),
        sections=cosine_grid(a, b, "sections"),
        alignments=alignments(
            merge([_gains(model, a, b)], [_gains(model, b, a)]),
            (a.blocks.passage, b.blocks.passage),
            lambda i, j: pair_cosines(a.vectors, b.vectors, i, j),
            lambda i, j: (),
        ),
        model=name,
        threshold=model.config.threshold,
        probability=float(model.logits(cosine.to(model.scale.device)).sigmoid()) if tuned else None,
        coverage=Coverage(a.coverage, b.coverage),
        parts={"meaning": 1.0},
        grids=lambda level: cosine_grid(a, b, level),
    )


def contributions(model: SmithModel, mine: SmithEncoding, theirs: SmithEncoding) -> Floats:
    """How much of the cosine each block of a document carries, at least 0: (blocks,)."""
    everything = np.arange(len(mine.vectors))
    runs = np.array_split(everything, min(len(everything), MOST_RUNS))
    without = variants(model, mine, [np.delete(everything, run) for run in runs]) @ theirs.vector
    alone = variants(model, mine, runs) @ theirs.vector
    gains = ((mine.vector @ theirs.vector - without) + alone).clamp(min=0).double().numpy() / 2
    return np.repeat(gains / [len(run) for run in runs], [len(run) for run in runs])


def _gains(model: SmithModel, mine: SmithEncoding, theirs: SmithEncoding) -> Evidence:
    """What each block carries of the cosine, and the block of the other document most like it."""
    nearest = (mine.vectors @ theirs.vectors.T).argmax(1)
    return Evidence(nearest.numpy(), contributions(model, mine, theirs))
