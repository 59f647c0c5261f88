"""Results as JSON, declared once: `--json` is written from these views, and REST's answers derive from them.

A view reads what it has fields for from a result's attributes: `PassageText.model_validate(passage)`. A field's
description stands in REST's schema too. A face that says more derives a view, adds fields or names others that are
read instead, and builds it by `of` or `model_validate`:

    class PassageShown(PassageText):
        text: str = Field(validation_alias="shown")  # read from `passage.shown`

    class WithAddress(Comparison):
        address: str
        carried_by: str  # one of SENTENCES, and so written by `of`

    WithAddress.of(match, address="/#/compare?a=x.md&b=y.md")
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from longmatch.matching.hits import Hits, SectionHits
from longmatch.matching.match import Match
from longmatch.matching.wording import NoVerdict
from longmatch.render.wording import carried_by, remarks, shared_text, unread, verdict
from longmatch.reuse.reuse import ONE_WORDING, Part, Relation
from longmatch.reuse.revision import COUNTS, Revision, Status

Rounded = Annotated[float, AfterValidator(lambda number: round(number, 4))]
Score = Annotated[float, AfterValidator(lambda number: round(number, 6))]
SENTENCES: dict[str, Callable[[Match], Any]] = {
    "verdict": verdict,
    "remarks": remarks,
    "shared_text": shared_text,
    "carried_by": carried_by,
    "unread": unread,
}
"""What is said of a match: a view of it may have fields of these names."""


class View(BaseModel):
    """A result, or a part of one, as JSON has it."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True, extra="forbid")


class Named(View):
    """A document by its name."""

    id: str = Field(examples=["tower-repair-report.pdf"])
    title: str


class DocumentFacts(Named):
    """What a document is."""

    words: int
    language: str = Field(examples=["en"])


class PassageText(View):
    """A passage of a document."""

    text: str
    start: int
    end: int
    section: str
    page: int | None = Field(description="The page or slide it begins on, from 1, where the format has them.")


class Aligned(View):
    """Two passages that answer each other."""

    a: PassageText
    b: PassageText
    score: Rounded = Field(description="How alike the two are: 0 by chance, 1 when identical.")
    contribution: float = Field(description="The share of the document score this pair carries.")
    lexical: float = Field(description="The part of the contribution that comes from shared words and phrases.")
    kind: Literal["keyword", "meaning"]
    words: list[str] = Field(description="The shared words that weigh most.")
    evidence: bool = Field(description="False: listed for the sum of the contributions alone, and shown nowhere.")
    paraphrase: bool = Field(description="Whether the two say the same in other words.")


class Judgement(View):
    """How well a document that was found belongs with the one asked about."""

    score: Score = Field(description="What puts documents in order; for programs.")
    probability: Score | None = Field(
        description="That it belongs with the one asked about; null where nobody can say."
    )
    verdict: str | None = Field(examples=["almost certainly"], description="The probability in a word or two.")
    relation: Literal["copy"] | None = Field(description="Its relation to the one asked about, where it is a copy.")
    no_verdict: NoVerdict | None = Field(description="Why nobody can say; the ranking's remarks have it in a sentence.")
    percentile: Annotated[float, AfterValidator(lambda number: round(number, 2))] = Field(
        description="The share of the library that scores lower, in percent."
    )


class FoundDocument(Judgement, Named):
    """A document that belongs with the one asked about."""

    passages: list[Aligned] = Field(validation_alias="why")


class SameText(Named):
    """A document of the library that is the one asked about."""

    relation: Literal["copy", "version"] = Field(description="Its text word for word, or another version of it.")


class RankedDocuments(View):
    """The documents found, best first."""

    remarks: list[str] = Field(description="What to know before reading the hits, as that none of them is close.")
    reader: str | None = Field(description="The model that read the best sections of a question, where one did.")
    same: list[SameText] = Field(
        description="Entries of the library that are the document asked about; they are not among the hits."
    )
    hits: list[FoundDocument]


class SectionPlace(View):
    """A section of a document that answers a question."""

    section: str = Field(validation_alias="heading", description="Its heading, or its first words.")
    parents: list[str] = Field(description="The headings it stands under, the outermost first.")
    number: int = Field(description="Of the section in the document, from 0.")
    passage: PassageText = Field(description="The sentence in it that answers best.")


class FoundSection(SectionPlace, Named):
    """The same, with what programs go by."""

    page: int | None
    score: Score


class RankedSections(View):
    """The sections found, best first."""

    stands_out: bool
    reader: str | None = Field(description="The model that read the best of them, where one did.")
    remarks: list[str]
    sections: list[FoundSection]


class Grid(View):
    """Scores of the parts of one document with the parts of the other."""

    rows: list[str] = Field(description="What to call the parts of a.")
    columns: list[str]
    scores: Annotated[list[list[Rounded]], BeforeValidator(lambda s: np.nan_to_num(np.asarray(s)).tolist())]


class SharedTerm(View):
    """A word or phrase both documents have."""

    text: str
    share: Rounded


class SharedSpan(View):
    """A place of a document that stands in the other too."""

    text: str
    start: int
    end: int


class ReusedText(View):
    """A passage that stands in both documents."""

    a: SharedSpan
    b: SharedSpan
    words: int
    unchanged: Rounded = Field(description="The share of its words that are the same in both.")
    common: bool = Field(description="Whether it stands in many documents of the library, so that it does not count.")


class SharedText(View):
    """How much of each document stands in the other, word for word or nearly."""

    share_a: Rounded = Field(description="The share of a's words that stand in b.")
    share_b: Rounded
    words_a: int
    words_b: int
    common_words_a: int = Field(description="Further words of a that stand in b and in many documents of the library.")
    common_words_b: int
    unchanged: Rounded = Field(description="The share of the words of the passages that are the same in both.")
    not_compared: list[Part] = Field(description="Of copies, what only one of the two files can give.")
    passages: list[ReusedText] = Field(description="Longest first.")

    @classmethod
    def of(cls, match: Match) -> Self:
        """With the text of both documents."""
        reuse = match.reuse
        passages = []
        for found in reuse.passages:
            a = SharedSpan(text=found.a.of(match.a.text), start=found.a.start, end=found.a.end)
            b = SharedSpan(text=found.b.of(match.b.text), start=found.b.start, end=found.b.end)
            passages.append(ReusedText(a=a, b=b, words=found.words, unchanged=found.unchanged, common=found.common))
        counted = {"words_a": reuse.reused_a, "words_b": reuse.reused_b}
        counted |= {"common_words_a": reuse.common_a, "common_words_b": reuse.common_b}
        shares = {name: getattr(reuse, name) for name in ("share_a", "share_b", "unchanged", "not_compared")}
        return cls.model_validate({**shares, **counted, "passages": passages})


class SectionRevision(View):
    """What happened to a section between two versions, in words."""

    heading: str
    opening: str
    start: int = Field(description="Where it begins in the text of B, a removed one in that of A.")
    status: Status
    same: int
    added: int
    removed: int
    moved: int
    edited: bool = Field(description="Whether the text below the heading changed.")
    was: list[str] = Field(description="The headings in A, where they are others; of merged sections, all of them.")
    before: str = Field(description="The section of A that a moved one now stands before; or empty.")
    after: str = Field(description="The section of A that a moved one now stands after; or empty.")
    subsections: int = Field(description="Sections below it that moved along and are not listed.")


class CellChange(View):
    """A cell of a table that differs between two versions."""

    row: str = Field(description="The row's first cell.")
    column: str = Field(description="The column's first cell.")
    before: str
    after: str


class TableRevision(View):
    """A table that differs between two versions."""

    section: str
    status: Literal["changed", "added", "removed"]
    cells: list[CellChange]


class VersionChanges(View):
    """How b, as the later version, differs from a."""

    same: int
    added: int
    removed: int
    moved: int
    sections: list[SectionRevision]
    tables: list[TableRevision]
    titles: list[str] | None = Field(description="Those of A and B, where they differ and stand beside the text.")

    @classmethod
    def of(cls, revision: Revision) -> Self:
        """With the words counted."""
        counts = {name: revision.words(name) for name in COUNTS}
        parts = {name: getattr(revision, name) for name in ("sections", "tables", "titles")}
        return cls.model_validate({**counts, **parts})


class ShareRead(View):
    """The share of each document's running text that was read."""

    a: float
    b: float


class Comparison(View):
    """Two documents compared."""

    a: DocumentFacts
    b: DocumentFacts
    model: str
    score: Score
    probability: Score | None = Field(description="That the two belong together; null where nobody can say.")
    probability_of_rest: Score | None = Field(
        description="The probability without the passages that stand in both, where one reuses the other's text."
    )
    verdict: str | None = Field(description="Whether the two belong together, in words; null where nobody can say.")
    no_verdict: NoVerdict | None = Field(description="Why nobody can say.")
    remarks: list[str] = Field(description="Sentences that qualify the verdict, or say why there is none.")
    threshold: float | None
    relation: Relation | None = Field(
        description="What the two are to each other, by their shared text, else by the model; null if neither can tell."
    )
    reuse: SharedText | None = Field(description="Null within one document.")
    revision: VersionChanges | None = Field(description="Of two versions of one text, or of one template.")
    coverage: ShareRead
    parts: dict[str, Rounded] = Field(description="What each side (words, phrases, meaning) has in the score.")
    words: list[SharedTerm]
    names: list[str] = Field(description="Documents that both mention, the rarest first.")
    sections: Grid
    passages: list[Aligned] = Field(description="Strongest first; their contributions sum to 1.")

    @classmethod
    def of(cls, match: Match, **more: Any) -> Self:
        """From a match; `more` are the values of fields that a derived view adds, or reads otherwise."""
        values = {
            "reuse": None if match.a is match.b else SharedText.of(match),
            "revision": VersionChanges.of(match.revision) if match.relation in ONE_WORDING else None,
            "words": match.terms,
            "passages": match.alignments,
            **{name: say(match) for name, say in SENTENCES.items() if name in cls.model_fields},
            **more,
        }
        return cls.model_validate(
            {name: getattr(match, name) for name in cls.model_fields if name not in values} | values
        )


class Difference(View):
    """A stretch of text that was removed, one that was added, or one that replaced another."""

    removed: str
    added: str


class Differences(View):
    """How many words changed between two versions, in how many places, and the first of these."""

    added: int
    removed: int
    moved: int
    places: int
    first: list[Difference]


class SimilarPair(View):
    """Two documents of a library that share text or belong together."""

    a: str
    b: str
    title_a: str
    title_b: str
    score: Score
    relation: Relation | None
    share_a: Rounded
    share_b: Rounded
    probability: Rounded | None
    passages: list[PassageText] | None
    differences: Differences | None


class SimilarPairs(View):
    """The pairs of a library, and the groups they form."""

    pairs: list[SimilarPair]
    total: int
    groups: list[list[str]]
    families: list[list[str]]
    closest: SimilarPair | None
    remarks: list[str]
    looked_at: int


VIEWS: dict[str, type[View]] = {
    "Alignment": Aligned,
    "Hit": FoundDocument,
    "Pair": SimilarPair,
    "Passage": PassageText,
    "SameDocument": SameText,
    "SectionHit": FoundSection,
    "SimilarPairs": SimilarPairs,
}
"""By the name of a result's class, those that are read from its attributes alone."""


def view_of(result: object) -> View:
    """A result, or a part of one, as the command line's JSON has it."""
    if isinstance(result, Match):
        return Comparison.of(result)
    if isinstance(result, Hits):
        found = {"remarks": result.remarks, "reader": result.reader, "same": result.same, "hits": list(result)}
        return RankedDocuments.model_validate(found)
    if isinstance(result, SectionHits):
        facts = {"stands_out": result.stands_out, "reader": result.reader, "remarks": result.remarks}
        return RankedSections.model_validate({**facts, "sections": list(result)})
    return VIEWS[type(result).__name__].model_validate(result)


def to_dict(result: object) -> dict[str, Any]:
    """A match, a ranking, pairs or a part of them as what JSON is written from: dictionaries, lists, numbers, texts."""
    return view_of(result).model_dump()
