"""CoLDE's figure 4: documents, sections and chunks of several documents, each with each, within and across."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np
import torch

from longmatch.documents.document import Span
from longmatch.lab.papers.colde.encoding import ColdeEncoding
from longmatch.matching.match import Grid, Level


@dataclass(frozen=True)
class Levels:
    """Square matrices over the same documents, which are called A, B, C ... in the labels."""

    documents: Grid
    sections: Grid
    chunks: Grid
    attention: Grid  # what each chunk (row) takes from each chunk of the next section of its document


def three_levels(encodings: Sequence[ColdeEncoding]) -> Levels:
    """The three levels of some documents: cosines, negative ones as 0."""
    vectors = torch.stack([e.vector for e in encodings])
    titles = tuple(f"{letter} · {e.document.title}" for letter, e in zip(ascii_uppercase, encodings, strict=False))
    whole = tuple(Span(0, len(e.document.text)) for e in encodings)
    chunks = _square(encodings, "chunks")
    weights = torch.block_diag(*(e.attention for e in encodings)).numpy()
    return Levels(
        documents=Grid(titles, titles, whole, whole, np.asarray((vectors @ vectors.T).clamp(0, 1).numpy())),
        sections=_square(encodings, "sections"),
        chunks=chunks,
        attention=Grid(chunks.rows, chunks.columns, chunks.row_spans, chunks.column_spans, weights),
    )


def _square(encodings: Sequence[ColdeEncoding], level: Level) -> Grid:
    found = [encoding.level(level) for encoding in encodings]
    labels = tuple(
        f"{letter} · {label}" for letter, (names, _, _) in zip(ascii_uppercase, found, strict=False) for label in names
    )
    spans = tuple(span for _, spans, _ in found for span in spans)
    vectors = torch.cat([mine for _, _, mine in found])
    return Grid(labels, labels, spans, spans, (vectors @ vectors.T).clamp(0, 1).numpy())
