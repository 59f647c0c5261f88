"""CoLDE's three levels of explanation (section 4.3) as a Match, across two documents or within one.

- documents: the cosine of the two document vectors, clipped at 0;
- sections: the cosine of the section vectors;
- chunks: the cosine of the attended chunk vectors. The paper speaks of similarity weighted by attention and gives no
  formula; chunk vector plus attention output is the LSTM's input, and so the basis of every level above.

The LSTM is not linear, so the cosine is not a sum over chunks. Contributions are measured instead: the document vector
is recomputed without a chunk and from the chunk alone (see `ablation_contributions`), and the contribution is credited
to the pair of the chunk and its most similar chunk in the other document.
"""

from dataclasses import replace

import numpy as np

from longmatch.lab.matchers import ablation_contributions
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.colde.encoding import ColdeEncoding, cosine_grid, subset_vectors
from longmatch.matching.align import Evidence, Floats, Ints, alignments, merge
from longmatch.matching.match import Coverage, Match
from longmatch.matching.sentence_vectors import pair_cosines


def explain(model: ColdeModel, a: ColdeEncoding, b: ColdeEncoding, name: str) -> Match:
    """Compare two documents; `name` is the matcher's."""
    forward, backward = _chunk_evidence(model, a, b), _chunk_evidence(model, b, a)
    match = _match(a, b, name, float(a.vector @ b.vector), forward, backward)
    return replace(match, threshold=model.config.threshold)


def within(encoding: ColdeEncoding, name: str) -> Match:
    """Compare a document's sections and chunks with each other; the score is the mean cosine of its section pairs.

    Each chunk is aligned with the chunk it attends to most, and that weight is its contribution; without attention,
    with the most similar chunk of another section.
    """
    sections = (encoding.sections @ encoding.sections.T).numpy()
    off_diagonal = ~np.eye(len(sections), dtype=bool)
    score = float(sections[off_diagonal].mean()) if off_diagonal.any() else 0.0
    evidence = _attention_evidence(encoding)
    is_backward = evidence.partner < np.arange(len(evidence.partner))  # a pair is listed from its earlier chunk
    forward, backward = (
        Evidence(evidence.partner, np.where(mask, evidence.mass, 0.0)) for mask in (~is_backward, is_backward)
    )
    return _match(encoding, encoding, name, score, forward, backward)


def contributions(model: ColdeModel, source: ColdeEncoding, target: ColdeEncoding) -> Floats:
    """How much of the cosine each chunk of `source` contributes, at least 0: (chunks,)."""
    return ablation_contributions(
        source.vector,
        target.vector,
        len(source.section_ids),
        lambda subsets: subset_vectors(model, source, subsets),
    )


def _match(
    a: ColdeEncoding, b: ColdeEncoding, name: str, cosine: float, forward: Evidence, backward: Evidence
) -> Match:
    return Match(
        a=a.document,
        b=b.document,
        score=float(np.clip(cosine, 0.0, 1.0)),
        sections=cosine_grid(a, b, "sections"),
        alignments=alignments(
            merge([forward], [backward]),
            (a.chunks.passage, b.chunks.passage),
            lambda i, j: pair_cosines(a.attended, b.attended, i, j),
            lambda i, j: (),
        ),
        model=name,
        coverage=Coverage(a.coverage, b.coverage),
        parts={"meaning": 1.0},
        grids=lambda level: cosine_grid(a, b, level),
    )


def _chunk_evidence(model: ColdeModel, source: ColdeEncoding, target: ColdeEncoding) -> Evidence:
    """The contribution of each chunk, and the chunk of the other document most similar to it."""
    nearest = (source.attended @ target.attended.T).argmax(1)
    return Evidence(nearest.numpy(), contributions(model, source, target))


def _attention_evidence(encoding: ColdeEncoding) -> Evidence:
    """The chunk each chunk attends to most, and the weight."""
    if encoding.attention.any():
        weight, partner = encoding.attention.max(1)
        return Evidence(partner.numpy(), weight.double().numpy())
    groups: Ints = encoding.section_ids if encoding.section_ids.any() else np.arange(len(encoding.section_ids))
    cosines = (encoding.attended @ encoding.attended.T).numpy()
    cosines = np.where(groups[:, None] == groups, 0.0, cosines.clip(min=0)).astype(np.float64)
    return Evidence(cosines.argmax(1), cosines.max(1))
