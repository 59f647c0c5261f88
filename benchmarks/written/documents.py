"""Contracts with gaps in their numbering, books, judgments and a paper, each with the outline it was written from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from benchmarks.written.prose import Prose

Style = Literal["title", "bold", "capitals", "italic"]
Role = Literal["title", "heading", "text", "label", "item"]


@dataclass(frozen=True)
class Part:
    """A paragraph: a label stands below the title, an item is the bold beginning of a list's item."""

    role: Role
    text: str
    close: bool = False  # no white space above it
    style: Style = "bold"  # of a heading


@dataclass
class WrittenDocument:
    """A document and the headings a reader should find in it."""

    name: str
    title: str
    parts: list[Part] = field(default_factory=list)
    expected: list[str] | None = None  # where they are not simply the parts that are headings
    title_lines: tuple[str, ...] = ()  # where the title is broken within a word

    @property
    def outline(self) -> list[str]:
        """The headings, in order."""
        if self.expected is not None:
            return self.expected
        return [part.text for part in self.parts if part.role == "heading"]

    def heading(self, text: str, style: Style = "bold") -> None:
        """Append a heading; one in the title's style begins a page."""
        self.parts.append(Part("heading", text, style=style))

    def text(self, text: str) -> None:
        """Append a paragraph."""
        self.parts.append(Part("text", text))


def written_documents() -> Iterator[WrittenDocument]:
    """All of them."""
    yield _contract_without_clauses()
    yield _contract_with_schedule()
    yield _book("book-unnumbered", "The Ferry Line", 3, _CHAPTERS)
    numbered = [f"{number}. {name}" for number, name in enumerate(_ODD_CHAPTERS, 1)]
    yield _book("book-odd-numbered", "Wheels of the Coast Line", 4, numbered)
    unnumbered = [name for name in _ODD_CHAPTERS if name != "1855"]
    yield _book("book-odd-unnumbered", "Wheels of the Coast Line", 5, unnumbered)
    yield _judgment_of_numbered_paragraphs()
    yield _judgment_with_headings()
    yield _paper_with_lists()
    yield _contract_in_capitals()
    yield _book_with_numbered_sections()
    yield _judgment_with_quotations()
    yield _report_with_bold_items()


_CLAUSES = (
    "Definitions", "Supply of the Goods", "Price and Payment", "Delivery", "Inspection", "Title and Risk", "Warranties",
    "Limits of Liability", "Insurance", "Confidentiality", "Data", "Force Majeure", "Term", "Termination",
    "Consequences of Termination", "Assignment", "Notices", "Disputes", "Governing Law", "Whole Agreement",
)  # fmt: skip


_CHAPTERS = (
    "The Harbour in Winter", "A Letter from the North", "What the Surveyor Saw", "Rails and Rivers",
    "The Long Summer", "A House by the Quay", "The Last Crossing",
)  # fmt: skip
_ODD_CHAPTERS = ("2-2-0", "4-2-0", "The American Type", "4-4-0", "1855", "2-6-0 and 2-8-0", "After Steam")


def _clauses(document: WrittenDocument, prose: Prose, left_out: range) -> None:
    for number, name in enumerate(_CLAUSES, 1):
        if number not in left_out:
            document.heading(f"{number}. {name}")
            for sub in range(1, 4):
                document.text(f"{number}.{sub} {prose.paragraph(60)}")


def _contract_without_clauses() -> WrittenDocument:
    document, prose = WrittenDocument("contract-gap", "Agreement for the Supply of Marine Boilers"), Prose(1)
    document.text(prose.paragraph(40))
    _clauses(document, prose, range(9, 12))
    return document


def _contract_with_schedule() -> WrittenDocument:
    document, prose = WrittenDocument("contract-schedule", "Lease of the Northern Quay"), Prose(2)
    document.text(prose.paragraph(40))
    _clauses(document, prose, range(4, 11))
    document.heading("Schedule 1 The Premises")
    for number, name in enumerate(("The Quay Wall", "The Crane", "The Sheds"), 1):
        document.heading(f"{number}. {name}")
        document.text(prose.paragraph())
    return document


def _book(name: str, title: str, seed: int, chapters: Sequence[str]) -> WrittenDocument:
    document, prose = WrittenDocument(name, title), Prose(seed)
    for chapter in chapters:
        document.heading(chapter, "title")
        for _ in range(6):
            document.text(prose.paragraph())
    return document


def _judgment_of_numbered_paragraphs() -> WrittenDocument:
    """About 8,000 words without a heading: groups of its paragraphs, of 800 words or a little more, are sections."""
    document, prose = WrittenDocument("judgment-numbered", "Harbour Office v Coast Line Company"), Prose(6)
    for number in range(1, 91):
        document.text(f"{number}. {prose.paragraph(85)}")
    starts = (1, 10, 19, 28, 37, 46, 55, 64, 73, 82)
    document.expected = [f"Paragraphs {first}–{after - 1}" for first, after in pairwise([*starts, 91])]
    return document


def _judgment_with_headings() -> WrittenDocument:
    document, prose = WrittenDocument("judgment-headings", "The Registrar v Northern Quay Limited"), Prose(7)
    number = 0
    for heading in ("Introduction", "The facts", "The proceedings below", "The grounds of appeal", "Discussion",
                    "The cross-appeal", "Conclusion"):  # fmt: skip
        document.heading(heading)
        for _ in range(5):
            number += 1
            document.text(f"{number}. {prose.paragraph(70)}")
    return document


def _paper_with_lists() -> WrittenDocument:
    title = "RANKING LONG REPORTS WITH SEMANTIC EMBEDDINGS"
    document, prose = WrittenDocument("paper-lists", title), Prose(8)
    document.title_lines = "RANKING LONG REPORTS WITH SEMANTIC EMBED-", "DINGS"
    document.parts.append(Part("label", "Anonymous submission"))
    document.parts.append(Part("heading", "Abstract", close=True))
    document.parts.append(Part("text", prose.paragraph(), close=True))
    for number, name in enumerate(("Introduction", "Data", "Features", "Experiments", "Conclusion"), 1):
        document.heading(f"{number} {name}")
        document.text(prose.paragraph())
        if name == "Features":
            for item in ("1. Length of the text (words,", "2. Subjective words (Positive words,", "3. Punctuation,"):
                document.parts.append(Part("item", item))
                document.text(f"{prose.sentence()[:-1].lower()}).")
        document.text(prose.paragraph())
    return document


def _contract_in_capitals() -> WrittenDocument:
    """Clauses in capitals of the body's size, with two gaps of which one is large."""
    document, prose = WrittenDocument("contract-capitals", "Charter of the Ferry Orlen"), Prose(9)
    document.text(prose.paragraph(40))
    for number, name in ((1, "PARTIES"), (2, "THE VESSEL"), (3, "HIRE"), (9, "OFF-HIRE"), (10, "REPAIRS"),
                         (11, "INSURANCE"), (31, "ARBITRATION"), (32, "NOTICES")):  # fmt: skip
        document.heading(f"{number}. {name}", "capitals")
        for letter in "abc":
            document.text(f"({letter}) {prose.paragraph(50)}")
    return document


def _book_with_numbered_sections() -> WrittenDocument:
    """Chapters without a number in the title's size, each with sections numbered through the book."""
    document, prose = WrittenDocument("book-sections", "Boilers and Their Keepers"), Prose(10)
    number = 0
    for chapter in ("Water", "Fire", "A Century of Steam", "The Men on the Footplate"):
        document.heading(chapter, "title")
        document.text(prose.paragraph())
        for name in ("What Was Known", "What Was Tried"):
            number += 1
            document.heading(f"{number}. {name}")
            for _ in range(3):
                document.text(prose.paragraph())
    return document


def _judgment_with_quotations() -> WrittenDocument:
    """Headings in italics between numbered paragraphs, which quote numbered rules."""
    document, prose = WrittenDocument("judgment-quotations", "In the Matter of the Quay Act"), Prose(11)
    number = 0
    for heading in ("Background", "The statutory framework", "The evidence of the surveyor", "The decision", "Costs"):
        document.heading(heading, "italic")
        for _ in range(4):
            number += 1
            document.text(f"[{number}] {prose.paragraph(70)}")
        if heading == "The statutory framework":
            for rule in range(1, 4):
                document.text(f"{rule}. {prose.sentence()}")
    return document


def _report_with_bold_items() -> WrittenDocument:
    """Numbered sections, one with a list whose items begin with a bold line of their own."""
    document, prose = WrittenDocument("report-bold-items", "Report on the Winter Timetable"), Prose(12)
    for number, name in enumerate(("Purpose", "Method", "Findings", "Measures", "Costs", "Outlook"), 1):
        document.heading(f"{number}. {name}")
        document.text(prose.paragraph())
        if name == "Findings":
            for item, words in enumerate(("Late boats", "Full boats", "Empty boats"), 1):
                document.parts.append(Part("item", f"{item}. {words}"))
                document.parts.append(Part("text", prose.sentence(), close=True))
        document.text(prose.paragraph())
    return document
