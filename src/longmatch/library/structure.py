"""A document's structure as flat Arrow lists, and back."""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeVar, cast

import pyarrow as pa

from longmatch.documents.document import Document, Kind, Paragraph, Section, Sentence

T = TypeVar("T")

KINDS: tuple[Kind, ...] = ("text", "caption", "footnote", "table", "reference", "code")

SECTIONS = pa.list_(
    pa.struct(
        [
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("heading", pa.string()),
            ("level", pa.int8()),
            ("paragraphs", pa.int32()),  # how many
        ]
    )
)
PARAGRAPHS = pa.list_(
    pa.struct(
        [
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("kind", pa.int8()),  # place in KINDS
            ("page", pa.int32()),  # 0 where the format has none
            ("sentences", pa.int32()),  # how many
        ]
    )
)
SENTENCES = pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32())]))


def structure_of(document: Document) -> dict[str, list[tuple[Any, ...]]]:
    """Sections, paragraphs and sentences as rows of plain values."""
    paragraphs = document.paragraphs
    return {
        "sections": [(s.start, s.end, s.heading, min(s.level, 127), len(s.paragraphs)) for s in document.sections],
        "paragraphs": [(p.start, p.end, KINDS.index(p.kind), p.page or 0, len(p.sentences)) for p in paragraphs],
        "sentences": [(s.start, s.end) for p in paragraphs for s in p.sentences],
    }


def sections_of(row: dict[str, Any]) -> tuple[Section, ...]:
    """The sections a row of the store describes."""
    sentences = [Sentence(s["start"], s["end"]) for s in row["sentences"]]
    paragraphs = [
        Paragraph(p["start"], p["end"], tuple(mine), cast(Kind, KINDS[p["kind"]]), p["page"] or None)
        for p, mine in zip(row["paragraphs"], _runs(sentences, row["paragraphs"], "sentences"), strict=True)
    ]
    return tuple(
        Section(s["start"], s["end"], s["heading"], s["level"], tuple(mine))
        for s, mine in zip(row["sections"], _runs(paragraphs, row["sections"], "paragraphs"), strict=True)
    )


def _runs(parts: Sequence[T], wholes: Sequence[dict[str, Any]], count: str) -> Iterator[Sequence[T]]:
    """The parts that belong to each whole."""
    ends = list(accumulate(whole[count] for whole in wholes))
    return (parts[end - whole[count] : end] for whole, end in zip(wholes, ends, strict=True))
