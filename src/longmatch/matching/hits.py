"""What a ranking found: documents, entries that are the query itself, and the sections that answer a question."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, SupportsIndex, TypeVar, overload

from longmatch.documents.document import Document, Section, brief
from longmatch.documents.paragraph_kinds import parents
from longmatch.errors import LongmatchError
from longmatch.matching.match import Alignment, Passage
from longmatch.matching.wording import NoVerdict, label, likelihood, ranking_remarks, read_by
from longmatch.reuse.reuse import not_compared

if TYPE_CHECKING:
    from pandas import DataFrame

# of a data frame
COLUMNS = ("id", "title", "score", "probability", "relation", "percentile", "source", "query_passage", "passage")
LONGEST = 3_000  # characters of a paragraph


T = TypeVar("T")


@dataclass(frozen=True)
class Found:
    """Something found in a document."""

    document: Document

    @property
    def id(self) -> str:
        """The document's id."""
        return self.document.id

    @property
    def title(self) -> str:
        """The document's title."""
        return self.document.title


class Ordered(list[T]):
    """What was found, best first; a slice keeps what is known of the whole."""

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, index: slice, /) -> Self: ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> T | Self:
        if not isinstance(index, slice):
            return super().__getitem__(index)
        part = type(self)(super().__getitem__(index))
        part.__dict__.update(self.__dict__)
        return part


class Reasons(NamedTuple):
    """Why a document was found: the passages that say most, and the probability, or why there is none."""

    passages: tuple[Alignment, ...]
    probability: float | None = None
    why_not: NoVerdict = "model"


@dataclass(frozen=True)
class Hit(Found):
    """A document found for a query, and why."""

    score: float
    percentile: float  # share of the collection that scores lower, in percent
    why: tuple[Alignment, ...] = ()  # the passages that say most about the two
    probability: float | None = None  # that it belongs with the query, where the model can tell
    relation: Literal["copy"] | None = None  # to the query, where it holds the same text
    why_not: NoVerdict = "model"  # why there is no probability, where there is none

    def __repr__(self) -> str:
        """In one line, without the text."""
        said = f", {self.verdict}" if self.verdict else ""
        return f"<Hit {brief(self.id)!r}: {brief(self.title, 80)!r}{said}>"

    @property
    def verdict(self) -> str | None:
        """The probability in a word or two, as `almost certainly`."""
        return None if self.probability is None else likelihood(self.probability)

    @property
    def no_verdict(self) -> NoVerdict | None:
        """Why nobody can say whether it belongs with the query; None where the probability says it."""
        return self.why_not if self.probability is None else None

    def to_row(self) -> dict[str, Any]:
        """One row of a table: the best pair of passages stands for all."""
        best = self.why[0] if self.why else None
        return {
            "id": self.id,
            "title": self.title,
            "score": round(self.score, 6),
            "probability": None if self.probability is None else round(self.probability, 6),
            "verdict": self.verdict,
            "relation": self.relation,
            "percentile": round(self.percentile, 2),
            "source": self.document.source,
            "query_passage": best.a.shown if best else "",
            "passage": best.b.shown if best else "",
        }


@dataclass(frozen=True)
class SameDocument(Found):
    """A document of a collection that holds the query's text: a copy, or another version of it."""

    relation: Literal["copy", "version"]


class Hits(Ordered[Hit]):
    """The documents found for a query, best first: a list that a notebook shows as a table."""

    stands_out: bool | None = None  # for a question, whether any document has more to do with it than the others
    sections: "SectionHits | None" = None  # for a question, the sections that answer it best
    left_out: tuple[str, ...] = ()  # sentences on documents that lack a value which the condition names
    same: tuple[SameDocument, ...] = ()  # entries of the library that are the query itself; they are no hits
    reader: str | None = None  # of a question's best sections, which then decide on the order; scores do not
    ordered_by: tuple[str, str] | None = None  # two models whose orders are averaged; the scores are the first one's

    @classmethod
    def of(cls, query: Document, hits: Iterable[Hit]) -> "Hits":
        """The hits of a ranking, those labelled that are copies of the query."""
        return cls(hit if not_compared(query, hit.document) is None else replace(hit, relation="copy") for hit in hits)

    @property
    def remarks(self) -> list[str]:
        """What to know before reading them: where the query is, who ordered them, that none may belong, or none can be
        said to.
        """
        said: list[str] = []
        copies = ", ".join(one.id for one in self.same if one.relation == "copy")
        versions = ", ".join(one.id for one in self.same if one.relation == "version")
        if copies:
            also = f", and another version of it: {versions}" if versions else ""
            said.append(f"This document is in the library: {copies}{also}. Its neighbours are shown.")
        elif versions:
            said.append(f"Another version of this document is in the library: {versions}. Its neighbours are shown.")
        if self and self.ordered_by:
            said.append("Ordered by {} and {} together.".format(*self.ordered_by))
        if self.reader:
            said.append(read_by(self.reader))
        return [*said, *ranking_remarks(self, self.stands_out), *self.left_out]

    def __repr__(self) -> str:
        """In one line: how many, and the best."""
        return f"<Hits: {len(self)} documents, best {brief(self[0].id)!r}>" if self else "<Hits: none>"

    def to_pandas(self) -> "DataFrame":
        """A data frame with a row per document."""
        try:
            from pandas import DataFrame
        except ModuleNotFoundError as error:
            raise LongmatchError("A data frame needs pandas. Install it: pip install pandas.") from error
        return DataFrame([hit.to_row() for hit in self], columns=list(COLUMNS))


@dataclass(frozen=True)
class SectionHit(Found):
    """A section of a document, and the sentence in it that answers a question best."""

    number: int  # of the section in the document, from 0
    score: float  # how much of the question it takes up: 0 as by chance, 1 all of it
    passage: Passage

    def __repr__(self) -> str:
        """In one line, without the text."""
        return f"<SectionHit {brief(self.id)!r}, {brief(self.heading, 60)!r}>"

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
        return tuple(heading for heading in above if heading != self.title)

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


class SectionHits(Ordered[SectionHit]):
    """The sections found for a question, best first."""

    def __init__(self, hits: Iterable[SectionHit] = (), stands_out: bool = True) -> None:
        super().__init__(hits)
        self.left_out: tuple[str, ...] = ()  # sentences on documents that lack a value which the condition names
        self.reader: str | None = None  # the model that read the best and put them in order, where one did
        self.stands_out = stands_out  # whether the best has more to do with the question than any other document

    def __repr__(self) -> str:
        """In one line: how many, and the best."""
        return f"<SectionHits: {len(self)} sections, best {self[0]!r}>" if self else "<SectionHits: none>"

    @property
    def remarks(self) -> list[str]:
        """What to know before reading them: who read them, that none answers the question, and what was left out."""
        said = [read_by(self.reader)] if self.reader else []
        return [*said, *ranking_remarks((), self.stands_out), *self.left_out]
