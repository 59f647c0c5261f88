"""One document encoded by CoLDE: vectors and spans at three levels, and the attention between chunks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document, Span
from longmatch.lab.papers.colde.augmentation import ChunkLayout
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.matching.align import Ints
from longmatch.matching.match import Grid, Level
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import pieces_from
from longmatch.units.tokens import Tokens

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
    def section_spans(self) -> tuple[Span, ...]:
        """Each section from the start of its first chunk to the end of its last."""
        starts = np.flatnonzero(np.diff(self.section_ids, prepend=-1))
        ends = np.append(starts[1:], len(self.section_ids)) - 1
        return tuple(
            Span(int(self.chunks.starts[i]), int(self.chunks.ends[j])) for i, j in zip(starts, ends, strict=True)
        )

    @cached_property
    def section_labels(self) -> tuple[str, ...]:
        """The first and last heading of each section, with its number where two sections have the same headings."""
        names = [_headings(self.document, span) for span in self.section_spans]
        return tuple(
            f"{name or 'Part'} {number}" if not name or names.count(name) > 1 else name
            for number, name in enumerate(names, start=1)
        )

    def level(self, level: Level) -> tuple[tuple[str, ...], tuple[Span, ...], Tensor]:
        """Labels, spans and vectors of the sections; at any finer level, of the chunks."""
        if level == "sections":
            return self.section_labels, self.section_spans, self.sections
        return self.chunks.singles.labels, self.chunks.singles.spans, self.attended


def cosine_grid(a: ColdeEncoding, b: ColdeEncoding, level: Level) -> Grid:
    """The cosine of every pair of sections, or of every pair of attended chunk vectors."""
    (rows, row_spans, a_vectors), (columns, column_spans, b_vectors) = a.level(level), b.level(level)
    return Grid(rows, columns, row_spans, column_spans, (a_vectors @ b_vectors.T).clamp(0, 1).numpy())


@torch.no_grad()
def encode_tokens(model: ColdeModel, layout: ChunkLayout, documents: Sequence[Tokens]) -> Iterator[ColdeEncoding]:
    """Encode documents independently: the chunks of all of them together, then each document's levels."""
    batch = layout.lay_out(documents)
    vectors = model.encode_batch_chunks(batch.to(next(model.parameters()).device))
    remaining = iter(documents)
    groups = list(batch.groups(CHUNKS * layout.limit))
    for group, group_vectors in zip(groups, vectors.split([len(group) for group in groups]), strict=True):
        output = model.aggregate(group_vectors, group.section, group.document, group.lengths)
        counts = torch.unique_consecutive(group.document, return_counts=True)[1].tolist()
        section_ids = [ids.numpy() for ids in group.section.split(counts)]
        sections = output.sections.float().cpu().split([len(np.unique(ids)) for ids in section_ids])
        chunk = 0
        for number, (count, ids) in enumerate(zip(counts, section_ids, strict=True)):
            rows, chunk = slice(chunk, chunk + count), chunk + count
            tokens = next(remaining)
            ranges = layout.ranges(tokens)
            yield ColdeEncoding(
                chunks=Sentences.of(pieces_from(tokens, ranges.first, ranges.last)),
                section_ids=ids,
                vectors=group_vectors[rows].float().cpu(),
                attended=output.attended[rows].float().cpu(),
                attention=output.attention[rows, rows].float().cpu(),
                sections=sections[number],
                vector=output.documents[number].float().cpu(),
                coverage=len(layout.truncate(tokens)) / len(tokens),
            )


@torch.no_grad()
def subset_vectors(model: ColdeModel, encoding: ColdeEncoding, subsets: Sequence[Ints]) -> Tensor:
    """The document vector recomputed from each subset of its chunks, 0 for an empty one: (subsets, width)."""
    device = next(model.parameters()).device
    vectors, section_ids = encoding.vectors.to(device), torch.from_numpy(encoding.section_ids).to(device)
    lengths = torch.from_numpy(encoding.chunks.lengths).to(device)
    result = torch.zeros(len(subsets), len(encoding.vector))
    filled = [number for number, subset in enumerate(subsets) if len(subset)]
    size = max(1, 4 * CHUNKS // max([1, *(len(subset) for subset in subsets)]))
    for start in range(0, len(filled), size):
        numbers = filled[start : start + size]
        rows = torch.from_numpy(np.concatenate([subsets[number] for number in numbers])).to(device)
        document = torch.repeat_interleave(torch.tensor([len(subsets[number]) for number in numbers])).to(device)
        output = model.aggregate(vectors[rows], section_ids[rows], document, lengths[rows])
        result[numbers] = output.documents.float().cpu()
    return result


def _headings(document: Document, span: Span) -> str:
    """'Introduction – Related work' for a span from the one to the other; empty if no section there has a heading."""
    inside = [s for s in document.sections if s.start < span.end and s.end > span.start and s.paragraphs]
    if not any(section.heading for section in inside):
        return ""
    first, last = (" ".join(section.heading.split()) or "(opening)" for section in (inside[0], inside[-1]))
    return first if len(inside) == 1 else f"{first} – {last}"
