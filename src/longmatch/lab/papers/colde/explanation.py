"""CoLDE's three levels of explanation (section 4.3) as a Match, across two documents or within one.

- documents: the cosine of the two vectors, negative ones as 0;
- sections: the cosine of the section vectors;
- chunks: the cosine of the chunk vectors with what attention adds to each: a chunk stands for itself and, as far as it
  attends to them, for chunks of the next section. The paper speaks of similarity weighted by attention and gives no
  formula; this is what the LSTM, and so every level above, reads.

The cosine is no sum over chunks, as the LSTM is not linear. What a chunk carries is measured: the vectors above the
backbone are worked out again without it, and of it alone. Its contribution is the mean of the two differences, what it
takes away from all the others and what it adds to nothing (the two ends of its Shapley value), at least 0; it is
credited to the pair it forms with the chunk most like it in the other document.
"""

from dataclasses import replace

import numpy as np

from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.colde.encoding import ColdeEncoding, cosine_grid, variants
from longmatch.matching.align import Evidence, Floats, Ints, alignments, merge
from longmatch.matching.match import Coverage, Match
from longmatch.matching.sentence_vectors import pair_cosines

MOST_RUNS = 128  # chunks left out one at a time; of longer documents runs of neighbours are


def explain(model: ColdeModel, a: ColdeEncoding, b: ColdeEncoding, name: str) -> Match:
    """Two documents compared."""
    found = _match(a, b, name, float(a.vector @ b.vector), [_gains(model, a, b)], [_gains(model, b, a)])
    return replace(found, threshold=model.config.threshold)


def within(encoding: ColdeEncoding, name: str) -> Match:
    """A document's sections and chunks against each other; the score is the mean cosine of two of its sections.

    Each chunk is aligned with the one it attends to most, and contributes as much attention; without attention, with
    the one most like it in another section.
    """
    sections = (encoding.sections @ encoding.sections.T).numpy()
    apart = ~np.eye(len(sections), dtype=bool)
    score = float(sections[apart].mean()) if apart.any() else 0.0
    onward = _attended(encoding)
    back = onward.partner < np.arange(len(onward.partner))  # a pair is named from its earlier chunk
    forward, backward = (Evidence(onward.partner, np.where(side, onward.mass, 0.0)) for side in (~back, back))
    return _match(encoding, encoding, name, score, [forward], [backward])


def _match(
    a: ColdeEncoding, b: ColdeEncoding, name: str, cosine: float, forward: list[Evidence], backward: list[Evidence]
) -> Match:
    return Match(
        a=a.document,
        b=b.document,
        score=float(np.clip(cosine, 0.0, 1.0)),
        sections=cosine_grid(a, b, "sections"),
        alignments=alignments(
            merge(forward, backward),
            (a.chunks.passage, b.chunks.passage),
            lambda i, j: pair_cosines(a.attended, b.attended, i, j),
            lambda i, j: (),
        ),
        model=name,
        coverage=Coverage(a.coverage, b.coverage),
        parts={"meaning": 1.0},
        grids=lambda level: cosine_grid(a, b, level),
    )


def _gains(model: ColdeModel, mine: ColdeEncoding, theirs: ColdeEncoding) -> Evidence:
    """What each chunk carries of the cosine, and the chunk of the other document most like it."""
    nearest = (mine.attended @ theirs.attended.T).argmax(1)
    return Evidence(nearest.numpy(), contributions(model, mine, theirs))


def contributions(model: ColdeModel, mine: ColdeEncoding, theirs: ColdeEncoding) -> Floats:
    """How much of the cosine each chunk of a document carries, at least 0: (chunks,)."""
    everything = np.arange(len(mine.part))
    runs = np.array_split(everything, min(len(everything), MOST_RUNS))
    without = variants(model, mine, [np.delete(everything, run) for run in runs]) @ theirs.vector
    alone = variants(model, mine, runs) @ theirs.vector
    gains = ((mine.vector @ theirs.vector - without) + alone).clamp(min=0).double().numpy() / 2
    return np.repeat(gains / [len(run) for run in runs], [len(run) for run in runs])


def _attended(encoding: ColdeEncoding) -> Evidence:
    """The chunk each chunk attends to most, and how much."""
    if encoding.attention.any():
        weight, partner = encoding.attention.max(1)
        return Evidence(partner.numpy(), weight.double().numpy())
    home: Ints = encoding.part if encoding.part.any() else np.arange(len(encoding.part))
    cosines = (encoding.attended @ encoding.attended.T).numpy()
    cosines = np.where(home[:, None] == home, 0.0, cosines.clip(min=0)).astype(np.float64)
    return Evidence(cosines.argmax(1), cosines.max(1))
