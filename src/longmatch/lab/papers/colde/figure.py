"""CoLDE's figure 4: the similarities of several documents at three levels, on one page that works offline."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase

import numpy as np
import torch

from longmatch.documents.document import Document, Span
from longmatch.lab.papers.colde.explanation import ColdeEncoding
from longmatch.matching.match import Grid, Level
from longmatch.render.html import asset, digest, environment
from longmatch.render.matrix import Matrix


@dataclass(frozen=True)
class Levels:
    """Square matrices over the same documents, labelled A, B, C ..."""

    documents: Grid
    sections: Grid
    chunks: Grid
    attention: Grid  # the weight of each chunk (row) on each chunk of its document's next section


def three_levels(encodings: Sequence[ColdeEncoding]) -> Levels:
    """The levels of several documents: cosines, clipped at 0, and attention weights."""
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
    levels = [encoding.level(level) for encoding in encodings]
    labels = tuple(
        f"{letter} · {label}" for letter, (names, _, _) in zip(ascii_uppercase, levels, strict=False) for label in names
    )
    spans = tuple(span for _, spans, _ in levels for span in spans)
    vectors = torch.cat([vectors for _, _, vectors in levels])
    return Grid(labels, labels, spans, spans, (vectors @ vectors.T).clamp(0, 1).numpy())


@dataclass(frozen=True)
class Panel:
    """A square matrix with its heading and a note."""

    heading: str
    note: str
    grid: Grid

    @property
    def matrix(self) -> Matrix:
        """The matrix as the template reads it; its diagonal is left blank."""
        empty = Document("", "", "", ())
        return Matrix(self.grid, empty, empty, within=True)


def write_grids(path: Path, title: str, panels: Sequence[Panel]) -> Path:
    """Write the page to `path` and return it."""
    style = asset("base.css", "match.css", "grids.css", package=__package__)
    policy = f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'"
    template = environment(__package__).get_template("grids.html")
    page = template.render(title=title, panels=panels, style=style, policy=policy)
    path.write_text(page, "utf-8", errors="replace", newline="\n")
    return path
