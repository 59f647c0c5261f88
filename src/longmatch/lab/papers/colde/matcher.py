"""CoLDE as a matcher, with its three levels of explanation (section 4.3) as a Match, of two documents or within one.

- documents: the cosine of the two document vectors, clipped at 0;
- sections: the cosine of the section vectors;
- chunks: the cosine of the attended chunk vectors. The paper speaks of similarity weighted by attention and gives no
  formula; chunk vector plus attention output is the LSTM's input, and so the basis of every level above.

The LSTM is not linear, so the cosine is not a sum over chunks. Contributions are measured instead: the document vector
is recomputed without a chunk and from the chunk alone (see `ablation_contributions`), and the contribution is credited
to the pair of the chunk and its most similar chunk in the other document.

For evaluation the model is read in other ways (`colde-sections@FOLDER`). Other vectors than the document's show which
one of a checkpoint matches best; explanations are those of the document vector, so these matchers give none. Shuffled
sections are the paper's study of perturbed texts (section 4.4.3). `three_levels` and `write_grids` draw figure 4 for
any documents, as one page that works offline.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from longmatch.documents.document import Document, Span
from longmatch.errors import LongmatchError
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.explanation import ablation_contributions, explained_match, nearest_evidence, vectors_of_subsets
from longmatch.lab.matchers import TrainedMatcher
from longmatch.lab.papers.colde.encoder import ChunkLayout, ChunkRanges, ColdeModel
from longmatch.matching.align import Evidence, Floats, Ints
from longmatch.matching.match import Coverage, Grid, Level, Match
from longmatch.matching.sentences import Sentences
from longmatch.render.html import render_page
from longmatch.render.matrix import Matrix
from longmatch.units import Tokens
from longmatch.units.pieces import pieces_from

CHUNKS = 512  # aggregated together; the attention matrix grows with their square


@dataclass(frozen=True)
class ColdeEncoding:
    """The vectors of a document, its sections and its chunks, and the attention of each chunk to the next section."""

    chunks: Sentences  # spans and headings of the chunks
    section_ids: Ints  # (chunks,) the section of each chunk
    vectors: Tensor  # (chunks, backbone width) straight from the backbone
    attended: Tensor  # (chunks, backbone width) unit vectors, attention output added
    attention: Tensor  # (chunks, chunks)
    sections: Tensor  # (sections, projection width)
    vector: Tensor  # (projection width,)
    coverage: float

    @property
    def document(self) -> Document:
        """The document itself."""
        return self.chunks.document

    @cached_property
    def _labelled_sections(self) -> tuple[tuple[str, ...], tuple[Span, ...]]:
        starts = np.flatnonzero(np.diff(self.section_ids, prepend=-1))
        ends = np.append(starts[1:], len(self.section_ids)) - 1
        bounds = zip(self.chunks.starts[starts].tolist(), self.chunks.ends[ends].tolist(), strict=True)
        spans = tuple(Span(start, end) for start, end in bounds)
        names = [_headings(self.document, span) for span in spans]
        labels = tuple(
            f"{name or 'Part'} {number}" if not name or names.count(name) > 1 else name
            for number, name in enumerate(names, start=1)
        )
        return labels, spans

    def level(self, level: Level) -> tuple[tuple[str, ...], tuple[Span, ...], Tensor]:
        """Labels, spans and vectors of the sections; at any finer level, of the chunks.

        A section's label is its first and last heading, with its number where two sections have the same headings.
        """
        if level == "sections":
            return *self._labelled_sections, self.sections
        return self.chunks.singles.labels, self.chunks.singles.spans, self.attended


def _headings(document: Document, span: Span) -> str:
    """'Introduction – Related work' for a span from the one to the other; empty if no section there has a heading."""
    inside = [s for s in document.sections if s.start < span.end and s.end > span.start and s.paragraphs]
    if not any(section.heading for section in inside):
        return ""
    first, last = (" ".join(section.heading.split()) or "(opening)" for section in (inside[0], inside[-1]))
    return first if len(inside) == 1 else f"{first} – {last}"


def contributions(model: ColdeModel, source: ColdeEncoding, target: ColdeEncoding) -> Floats:
    """How much of the cosine each chunk of `source` contributes, at least 0: (chunks,)."""
    chunks, vectors = len(source.section_ids), partial(subset_vectors, model, source)
    return ablation_contributions(source.vector, target.vector, chunks, vectors)


def subset_vectors(model: ColdeModel, encoding: ColdeEncoding, subsets: Sequence[Ints]) -> Tensor:
    """The document vector recomputed from each subset of its chunks, 0 for an empty one: (subsets, width)."""
    section, lengths = torch.from_numpy(encoding.section_ids), torch.from_numpy(encoding.chunks.lengths)

    def encode(rows: Tensor, counts: Tensor) -> Tensor:
        numbers = section[rows], torch.repeat_interleave(counts), lengths[rows]
        return model.aggregate(encoding.vectors[rows].to(model.device), *numbers).documents

    return vectors_of_subsets(subsets, len(encoding.vector), 4 * CHUNKS, encode)


class ColdeMatcher(TrainedMatcher[ColdeEncoding]):
    """Section 4.2: the cosine of one vector per document, explained by sections and chunks.

    Documents are read whole; `max_tokens` truncates them, which `coverage` shows.
    """

    name = "colde"
    Model = ColdeModel
    model: ColdeModel

    def __init__(
        self, model: ColdeModel, tokenizer: Any, max_tokens: int | None = None, precision: Precision | None = None
    ) -> None:
        super().__init__(model, tokenizer, precision)
        self.layout = self.changed(model.layout(special_tokens(tokenizer, self.name), max_tokens))

    def changed(self, layout: ChunkLayout) -> ChunkLayout:
        """How documents are cut, given how the model was trained to read them."""
        return layout

    @torch.no_grad()
    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterator[ColdeEncoding]:
        """Encode documents independently: the chunks of all of them together, then each document's levels."""
        batch = self.layout.lay_out(documents)
        vectors = self.model.encode_batch_chunks(batch.to(self.device))
        remaining = iter(documents)
        groups = list(batch.groups(CHUNKS * self.layout.limit))
        for group, group_vectors in zip(groups, vectors.split([len(group) for group in groups]), strict=True):
            output = self.model.aggregate(group_vectors, group.section, group.document, group.lengths)
            counts = torch.unique_consecutive(group.document, return_counts=True)[1].tolist()
            section_ids = [ids.numpy() for ids in group.section.split(counts)]
            sections = output.sections.float().cpu().split([len(np.unique(ids)) for ids in section_ids])
            chunk = 0
            for number, (count, ids) in enumerate(zip(counts, section_ids, strict=True)):
                rows, chunk = slice(chunk, chunk + count), chunk + count
                tokens = next(remaining)
                ranges = self.layout.ranges(tokens)
                yield ColdeEncoding(
                    chunks=Sentences.of(pieces_from(tokens, ranges.first, ranges.last)),
                    section_ids=ids,
                    vectors=group_vectors[rows].float().cpu(),
                    attended=output.attended[rows].float().cpu(),
                    attention=output.attention[rows, rows].float().cpu(),
                    sections=sections[number],
                    vector=output.documents[number].float().cpu(),
                    coverage=len(tokens.truncated(self.layout.max_tokens)) / len(tokens),
                )

    def length(self, tokens: Tokens) -> int:
        """All tokens, or `max_tokens`."""
        return len(tokens.truncated(self.layout.max_tokens))

    def explain(self, a: ColdeEncoding, b: ColdeEncoding, collection: Tensor | None = None) -> Match:
        """Compare two documents at the three levels."""
        gains = contributions(self.model, a, b), contributions(self.model, b, a)
        evidence = nearest_evidence((a.attended, b.attended), gains)
        return self._match(a, b, float(a.vector @ b.vector), evidence, self.model.config.threshold)

    def within(self, document: Document) -> Match:
        """Compare a document's sections and chunks with each other; the score is the mean cosine of its section pairs.

        Each chunk is aligned with the chunk it attends to most, and that weight is its contribution; without attention,
        with the most similar chunk of another section.
        """
        (encoding,) = self.encode([document])
        sections = (encoding.sections @ encoding.sections.T).numpy()
        off_diagonal = ~np.eye(len(sections), dtype=bool)
        score = float(sections[off_diagonal].mean()) if off_diagonal.any() else 0.0
        if encoding.attention.any():
            weights = encoding.attention.double().numpy()
        else:
            groups: Ints = encoding.section_ids if encoding.section_ids.any() else np.arange(len(encoding.section_ids))
            cosines = (encoding.attended @ encoding.attended.T).numpy().clip(min=0)
            weights = np.where(groups[:, None] == groups, 0.0, cosines).astype(np.float64)
        partner, mass = weights.argmax(1), weights.max(1)
        is_backward = partner < np.arange(len(partner))  # a pair is listed from its earlier chunk
        forward, backward = (Evidence(partner, np.where(mask, mass, 0.0)) for mask in (~is_backward, is_backward))
        return self._match(encoding, encoding, score, (forward, backward))

    def _match(
        self,
        a: ColdeEncoding,
        b: ColdeEncoding,
        cosine: float,
        evidence: tuple[Evidence, Evidence],
        threshold: float | None = None,
    ) -> Match:
        def cosines(level: Level) -> Grid:
            """Of every pair of sections, or of every pair of attended chunk vectors."""
            (rows, row_spans, a_vectors), (columns, column_spans, b_vectors) = a.level(level), b.level(level)
            return Grid(rows, columns, row_spans, column_spans, (a_vectors @ b_vectors.T).clamp(0, 1).numpy())

        return explained_match(
            (a.chunks, b.chunks),
            (a.attended, b.attended),
            evidence,
            cosines,
            score=float(np.clip(cosine, 0.0, 1.0)),
            model=self.name,
            threshold=threshold,
            coverage=Coverage(a.coverage, b.coverage),
        )


class ReadoutMatcher(ColdeMatcher):
    """Documents by another of CoLDE's vectors than the document's."""

    def vector_of(self, encoding: ColdeEncoding) -> Tensor:
        """The vector to compare: (width,)."""
        return encoding.vector

    @property
    def threshold(self) -> None:
        """None: the stored one was chosen for the document vector."""

    def encode_tokens(self, documents: Sequence[Tokens]) -> Iterator[ColdeEncoding]:
        """Encode documents independently."""
        for encoding in super().encode_tokens(documents):
            yield replace(encoding, vector=nn.functional.normalize(self.vector_of(encoding), dim=0))

    def explain(self, a: ColdeEncoding, b: ColdeEncoding, collection: Tensor | None = None) -> Match:
        """Not available."""
        raise LongmatchError(f"{self.name} is for evaluation only. Name the folder itself to compare documents.")


class SectionMeanMatcher(ReadoutMatcher):
    """The mean of the section vectors, which the paper's loss trains."""

    def vector_of(self, encoding: ColdeEncoding) -> Tensor:
        """The mean of the sections."""
        return encoding.sections.mean(0)


class ColdeChunksMatcher(ReadoutMatcher):
    """The mean of the chunk vectors, weighted by tokens: the backbone alone."""

    @property
    def width(self) -> int:
        """Dimensions of a chunk vector."""
        return int(self.model.backbone.config.hidden_size)

    def vector_of(self, encoding: ColdeEncoding) -> Tensor:
        """The weighted mean of the chunks."""
        return encoding.vectors.new_tensor(encoding.chunks.lengths) @ encoding.vectors


class UnprojectedMatcher(ReadoutMatcher):
    """The document vector before the projection."""

    def __init__(
        self, model: ColdeModel, tokenizer: Any, max_tokens: int | None = None, precision: Precision | None = None
    ) -> None:
        self._width = model.summary_width
        model.projection = nn.Identity()
        super().__init__(model, tokenizer, max_tokens, precision)

    @property
    def width(self) -> int:
        """Dimensions of what the projection reads."""
        return self._width


@dataclass(frozen=True)
class ShuffledLayout(ChunkLayout):
    """A document's sections in random order, with the section and chunk numbers that they had."""

    seed: int = 0

    def ranges(self, tokens: Tokens) -> ChunkRanges:
        """The chunks, section after section in an order drawn from the seed and the document's id."""
        cut = super().ranges(tokens)
        sections = np.unique(cut.section).tolist()
        random.Random(f"{self.seed} {tokens.document.id}").shuffle(sections)
        rows = np.concatenate([np.flatnonzero(cut.section == section) for section in sections])
        return ChunkRanges(cut.first[rows], cut.last[rows], cut.section[rows], cut.position[rows])


class ShuffledSectionsMatcher(ColdeMatcher):
    """CoLDE on documents whose sections are shuffled but keep the embeddings of their original order."""

    def changed(self, layout: ChunkLayout) -> ChunkLayout:
        """With shuffled sections."""
        return ShuffledLayout(**vars(layout))


class UndividedMatcher(ColdeMatcher):
    """CoLDE on documents that are not cut into sections, as the paper tests it (section 4.2)."""

    def changed(self, layout: ChunkLayout) -> ChunkLayout:
        """With one section."""
        return replace(layout, sections=1)


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
    styles = ("base.css", "match.css", "grids.css")
    page = render_page("grids.html", styles, package=__package__, title=title, panels=panels)
    path.write_text(page, "utf-8", errors="replace", newline="\n")
    return path
