"""What CoLDE knows of one document: vectors at three levels, the attention between chunks, and their places."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from longmatch.documents.document import Document, Span
from longmatch.lab.papers.colde.batch import Layout
from longmatch.lab.papers.colde.encoder import ColdeModel
from longmatch.lab.papers.colde.reading import read_chunks
from longmatch.matching.align import Ints
from longmatch.matching.match import Grid, Level
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import pieces_from
from longmatch.units.tokens import Tokens

CHUNKS = 512  # whose attention is worked out together: it is a square


@dataclass(frozen=True)
class ColdeEncoding:
    """A document's vector, those of its sections and chunks, and what each chunk takes from the next section's."""

    chunks: Sentences  # spans and headings of the chunks
    part: Ints  # (chunks,) the section, Aug's, each chunk is of
    vectors: Tensor  # (chunks, backbone width) as the backbone gave them
    attended: Tensor  # (chunks, backbone width) of length 1, with what attention added
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
        """From each section's first chunk to the end of its last."""
        starts = np.flatnonzero(np.diff(self.part, prepend=-1))
        ends = np.append(starts[1:], len(self.part)) - 1
        return tuple(
            Span(int(self.chunks.starts[i]), int(self.chunks.ends[j])) for i, j in zip(starts, ends, strict=True)
        )

    @cached_property
    def section_labels(self) -> tuple[str, ...]:
        """The first and last heading under which each section stands; its number too where another is called alike."""
        names = [_headings(self.document, span) for span in self.section_spans]
        return tuple(
            f"{name or 'Part'} {number}" if not name or names.count(name) > 1 else name
            for number, name in enumerate(names, start=1)
        )

    def level(self, level: Level) -> tuple[tuple[str, ...], tuple[Span, ...], Tensor]:
        """Labels, spans and vectors of the sections or, the finest level there is, the chunks."""
        if level == "sections":
            return self.section_labels, self.section_spans, self.sections
        return self.chunks.singles.labels, self.chunks.singles.spans, self.attended


def cosine_grid(a: ColdeEncoding, b: ColdeEncoding, level: Level) -> Grid:
    """The cosine of every two sections; or of every two chunks, with what attention adds to each."""
    (rows, row_spans, mine), (columns, column_spans, theirs) = a.level(level), b.level(level)
    return Grid(rows, columns, row_spans, column_spans, (mine @ theirs.T).clamp(0, 1).numpy())


@torch.no_grad()
def encode_tokens(model: ColdeModel, layout: Layout, documents: Sequence[Tokens]) -> Iterator[ColdeEncoding]:
    """Encode documents, each alone: chunks of all of them in batches by length, then each document's levels."""
    batch = layout.lay_out(documents)
    place = next(model.parameters()).device
    vectors = read_chunks(model, batch.to(place))
    left = iter(documents)
    groups = list(batch.groups(CHUNKS * layout.limit))
    for group, mine in zip(groups, vectors.split([len(group) for group in groups]), strict=True):
        found = model.aggregate(mine, group.section, group.document)
        counts = torch.unique_consecutive(group.document, return_counts=True)[1].tolist()
        parts = [part.numpy() for part in group.section.split(counts)]
        sections = found.sections.float().cpu().split([int(part[-1]) + 1 for part in parts])
        chunk = 0
        for number, (count, part) in enumerate(zip(counts, parts, strict=True)):
            own, chunk = slice(chunk, chunk + count), chunk + count
            tokens = next(left)
            cut = layout.ranges(tokens)
            yield ColdeEncoding(
                chunks=Sentences.of(pieces_from(tokens, cut.first, cut.last)),
                part=part,
                vectors=mine[own].float().cpu(),
                attended=found.attended[own].float().cpu(),
                attention=found.attention[own, own].float().cpu(),
                sections=sections[number],
                vector=found.documents[number].float().cpu(),
                coverage=len(layout.read(tokens)) / len(tokens),
            )


@torch.no_grad()
def variants(model: ColdeModel, encoding: ColdeEncoding, kept: Sequence[Ints]) -> Tensor:
    """The document's vector had it only some of its chunks, for each choice of chunks; 0 where none is left."""
    place = next(model.parameters()).device
    vectors, part = encoding.vectors.to(place), torch.from_numpy(encoding.part).to(place)
    found = torch.zeros(len(kept), len(encoding.vector))
    filled = [number for number, chosen in enumerate(kept) if len(chosen)]
    size = max(1, 4 * CHUNKS // max([1, *(len(chosen) for chosen in kept)]))
    for start in range(0, len(filled), size):
        numbers = filled[start : start + size]
        rows = torch.from_numpy(np.concatenate([kept[number] for number in numbers])).to(place)
        document = torch.repeat_interleave(torch.tensor([len(kept[number]) for number in numbers])).to(place)
        found[numbers] = model.aggregate(vectors[rows], part[rows], document).documents.float().cpu()
    return found


def _headings(document: Document, span: Span) -> str:
    """'Introduction – Related work' for a span that reaches from the one to the other; empty where none is named."""
    inside = [s for s in document.sections if s.start < span.end and s.end > span.start and s.paragraphs]
    if not any(section.heading for section in inside):
        return ""
    first, last = (" ".join(section.heading.split()) or "(opening)" for section in (inside[0], inside[-1]))
    return first if len(inside) == 1 else f"{first} – {last}"
