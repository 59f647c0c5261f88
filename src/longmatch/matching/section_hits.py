"""The sections found for a question."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, SupportsIndex, TextIO, overload

from longmatch.documents.document import Document, Section, brief
from longmatch.documents.paragraph_kinds import parents
from longmatch.matching.match import Passage
from longmatch.matching.spreadsheet import write_csv
from longmatch.render.verdict import ranking_remarks
from longmatch.render.wording import label

COLUMNS = ("id", "title", "section", "page", "source", "passage")  # of a table

LONGEST = 3_000  # characters of a paragraph


@dataclass(frozen=True)
class SectionHit:
    """A section of a document, and the sentence in it that answers a question best."""

    document: Document
    number: int  # of the section in the document, from 0
    score: float  # how much of the question it takes up: 0 as by chance, 1 all of it
    passage: Passage

    def __repr__(self) -> str:
        """In one line, without the text."""
        return f"<SectionHit {brief(self.document.id)!r}, {brief(self.heading, 60)!r}>"

    @property
    def section(self) -> Section:
        """The section itself."""
        return self.document.sections[self.number]

    @property
    def heading(self) -> str:
        """Its heading, or its first words."""
        return label(self.section.heading, self.section.of(self.document.readable))

    @property
    def parents(self) -> tuple[str, ...]:
        """The headings it stands under, the outermost first, but for the document's title."""
        above = parents((section.level, section.heading) for section in self.document.sections[: self.number + 1])
        return tuple(heading for heading in above if heading != self.document.title)

    @property
    def path(self) -> str:
        """Its heading below those it stands under, as `III. Discussion › B. Standing`."""
        return " › ".join([*self.parents, self.heading])

    @property
    def paragraph(self) -> str:
        """The paragraph around the passage; the passage alone where that is longer than LONGEST."""
        around = (p for p in self.section.paragraphs if p.start <= self.passage.start < p.end)
        text = next((p.of(self.document.readable) for p in around), "")
        return text if 0 < len(text) <= LONGEST else self.passage.shown

    @property
    def page(self) -> int | None:
        """The page of the passage, where the format has pages."""
        return self.document.page_at(self.passage.start)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.document.id,
            "title": self.document.title,
            "section": self.heading,
            "parents": list(self.parents),
            "number": self.number,
            "page": self.page,
            "score": round(self.score, 6),
            "passage": self.passage.to_dict(),
        }


class SectionHits(list[SectionHit]):
    """The sections found for a question, best first."""

    def __init__(self, hits: Iterable[SectionHit] = (), stands_out: bool = True) -> None:
        super().__init__(hits)
        self.left_out: tuple[str, ...] = ()  # sentences on documents that lack a value which the condition names
        self.stands_out = stands_out  # whether the best has more to do with the question than any other document

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> SectionHit: ...
    @overload
    def __getitem__(self, index: slice, /) -> "SectionHits": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "SectionHit | SectionHits":
        found = super().__getitem__(index)
        if isinstance(found, SectionHit):
            return found
        hits = SectionHits(found, self.stands_out)
        hits.left_out = self.left_out
        return hits

    def __repr__(self) -> str:
        """In one line: how many, and the best."""
        return f"<SectionHits: {len(self)} sections, best {self[0]!r}>" if self else "<SectionHits: none>"

    @property
    def remarks(self) -> list[str]:
        """What to know before reading them: that none answers the question, and what was left out."""
        return [*ranking_remarks((), self.stands_out), *self.left_out]

    def to_csv(self, file: TextIO) -> None:
        """Write a line per section to an open file, under a line of column names; no cell can be run as a formula."""
        write_csv(file, COLUMNS, (self._row(hit) for hit in self))

    @staticmethod
    def _row(hit: SectionHit) -> dict[str, Any]:
        return hit.to_dict() | {"section": hit.path, "source": hit.document.source, "passage": hit.passage.shown}
