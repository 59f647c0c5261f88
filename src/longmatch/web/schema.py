"""The interface's answers and questions, typed."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from longmatch.documents.containers import shows_pages
from longmatch.documents.document import Document, Span
from longmatch.matching.hits import Hit, SectionHit
from longmatch.matching.match import Alignment, Grid, Match, Passage
from longmatch.matching.wording import NoVerdict
from longmatch.render import json
from longmatch.render.wording import carried_by, remarks, shared_text, unread, verdict
from longmatch.reuse.reuse import ONE_WORDING

By = Literal["default", "sdr"]
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]  # the first character and the one after the last


class Answer(BaseModel):
    """What every answer has in common: nothing that is not described."""

    model_config = ConfigDict(extra="forbid")


class Mistake(Answer):
    """Why a request has no answer."""

    detail: str = Field(examples=["The library has no document notes.txt. Look at the list of documents."])


class Health(Answer):
    """That the server answers."""

    status: Literal["ok"] = "ok"
    version: str = Field(description="Of longmatch.")
    documents: int
    ready: bool = Field(description="Whether the model is open; before that the first question takes some seconds.")


class LibraryFacts(Answer):
    """How much the library holds, and what made it."""

    name: str
    documents: int
    words: int
    model: str
    backbone: str
    vectors: str = Field(description="The numbers that sentence vectors are kept in.", examples=["float16", "int8"])
    computes: str = Field(description="Precision, engine and device of the first encoding.")
    schema_number: int = Field(serialization_alias="schema", description="Of the store's layout.")
    uploads: dict[str, int] = Field(description="What an upload may have at most: bytes, words.")
    formats: list[str] = Field(description="The kinds of files that can be uploaded.", examples=[[".pdf", ".md"]])
    writable: bool = Field(description="Whether documents can be added, and those removed that were.")


class Described(Answer):
    """What a document is."""

    id: str = Field(examples=["tower-repair-report.pdf"])
    title: str
    language: str = Field(examples=["en"])
    words: int
    shows_pages: bool = Field(description="Whether its pages can be shown as pictures: it is a PDF.")

    @classmethod
    def of(cls, document: Document) -> "Described":
        """From a document."""
        facts: dict[str, Any] = {
            "id": document.id,
            "title": document.title,
            "language": document.language,
            "words": document.words,
        }
        return Described(**facts, shows_pages=shows_pages(document.id, document.source))


class Listing(Answer):
    """Some of the documents of the library."""

    total: int = Field(description="How many there are, those before and after these counted.")
    documents: list[Described]


class ParagraphText(Answer):
    """A paragraph as a reader wants to see it."""

    start: int
    end: int
    page: int | None = Field(description="The page or slide it begins on, from 1, where the format has them.")
    kind: str = Field(description="text, caption, footnote, table, reference or code.")
    text: str


class SectionText(Answer):
    """A heading and the paragraphs under it."""

    heading: str
    level: int
    start: int
    end: int
    paragraphs: list[ParagraphText]


class DocumentText(Described):
    """A document with its text."""

    removable: bool = Field(description="Whether it was added from the page, and can be removed there.")
    removed_together: int = Field(
        description="How many documents are removed with it, itself included: all of its file."
    )
    sections: list[SectionText]

    @classmethod
    def of(cls, document: Document, removed_together: int = 0) -> "DocumentText":
        """From a document; the markup is blanked, so that spans hold."""
        text = document.readable
        sections = [
            SectionText(
                heading=section.heading,
                level=section.level,
                start=section.start,
                end=section.end,
                paragraphs=[
                    ParagraphText(start=p.start, end=p.end, page=p.page, kind=p.kind, text=p.of(text))
                    for p in section.paragraphs
                ],
            )
            for section in document.sections
        ]
        removal: dict[str, Any] = {"removable": removed_together > 0, "removed_together": removed_together}
        return DocumentText(**Described.of(document).model_dump(), **removal, sections=sections)


class PastedText(BaseModel):
    """A text to upload, instead of a file."""

    text: str = Field(min_length=1, examples=["# Notes\n\nThe tower's lime mortar was renewed in spring."])
    title: str = Field(default="", max_length=500)


class Uploaded(Described):
    """An upload, ready to be asked about: its id stands wherever a document's id may."""

    upload: str = Field(description="The upload's id.", examples=["u-9f2c4b7a1d3e5f60"])
    sections: int
    remarks: list[str] = Field(description="What was not read, or not surely, as pages of a scan.")


class PassageText(Answer):
    """A passage of a document."""

    text: str
    start: int
    end: int
    section: str
    page: int | None = Field(description="The page or slide it begins on, from 1, where the format has them.")

    @classmethod
    def of(cls, passage: Passage) -> "PassageText":
        """From a passage, its markup blanked."""
        place: dict[str, Any] = {
            "start": passage.start,
            "end": passage.end,
            "section": passage.section,
            "page": passage.page,
        }
        return PassageText(text=passage.shown, **place)


class Aligned(Answer):
    """Two passages that answer each other."""

    a: PassageText
    b: PassageText
    score: float = Field(description="How alike the two are: 0 by chance, 1 when identical.")
    contribution: float = Field(description="The share of the document score this pair carries.")
    lexical: float = Field(description="The part of the contribution that comes from shared words and phrases.")
    kind: Literal["keyword", "meaning"]
    words: list[str] = Field(description="The shared words that weigh most.")
    evidence: bool = Field(description="False: listed for the sum of the contributions alone, and shown nowhere.")
    paraphrase: bool = Field(description="Whether the two say the same in other words.")

    @classmethod
    def of(cls, pair: Alignment) -> "Aligned":
        """From an alignment."""
        return Aligned(
            a=PassageText.of(pair.a),
            b=PassageText.of(pair.b),
            score=round(pair.score, 4),
            contribution=pair.contribution,
            lexical=pair.lexical,
            kind=pair.kind,
            words=list(pair.words),
            evidence=pair.evidence,
            paraphrase=pair.paraphrase,
        )


class Found(Described):
    """A document that belongs with the one asked about."""

    score: float = Field(description="What puts documents in order; for programs.")
    probability: float | None = Field(
        description="That it belongs with the one asked about; null where nobody can say."
    )
    verdict: str | None = Field(description="The probability in a word or two.", examples=["almost certainly"])
    relation: Literal["copy"] | None = Field(description="Its relation to the one asked about, where it is a copy.")
    no_verdict: NoVerdict | None = Field(description="Why nobody can say; the ranking's remarks have it in a sentence.")
    percentile: float = Field(description="The share of the library that scores lower, in percent.")
    why: list[Aligned] = Field(description="The passages that say most about the two.")

    @classmethod
    def of_hit(cls, hit: Hit, known: Described | None = None) -> "Found":
        """From a hit, and what is known of its document already."""
        return Found(
            **(known or Described.of(hit.document)).model_dump(),
            score=round(hit.score, 6),
            probability=None if hit.probability is None else round(hit.probability, 6),
            verdict=hit.verdict,
            relation=hit.relation,
            no_verdict=hit.no_verdict,
            percentile=round(hit.percentile, 2),
            why=[Aligned.of(pair) for pair in hit.why],
        )


class Same(Described):
    """A document of the library that is the upload asked about."""

    relation: Literal["copy", "version"] = Field(description="Its text word for word, or another version of it.")


class FoundSection(Described):
    """A section of a document that answers a question."""

    section: str = Field(description="Its heading, or its first words.")
    parents: list[str] = Field(description="The headings it stands under, the outermost first.")
    number: int = Field(description="Of the section in the document, from 0.")
    passage: PassageText = Field(description="The sentence in it that answers best.")
    paragraph: str = Field(description="The paragraph around that sentence; the sentence alone where it is very long.")

    @classmethod
    def of_hit(cls, hit: SectionHit, known: Described | None = None) -> "FoundSection":
        """From a hit, and what is known of its document already."""
        return FoundSection(
            **(known or Described.of(hit.document)).model_dump(),
            section=hit.heading,
            parents=list(hit.parents),
            number=hit.number,
            passage=PassageText.of(hit.passage),
            paragraph=hit.paragraph,
        )


class Ranking(Answer):
    """The documents that belong most with one, best first."""

    query: Described
    by: str = Field(description="The model whose scores they have.")
    documents: int = Field(description="How many the library holds.")
    remarks: list[str] = Field(description="What to know before reading the hits, as that none of them is close.")
    same: list[Same] = Field(
        description="Entries of the library that are the upload itself; they are not among the hits."
    )
    sections: list[FoundSection] = Field(description="For a question, the sections that answer it best; else none.")
    hits: list[Found]


class RankRequest(BaseModel):
    """A ranking to be worked out as a job."""

    model_config = ConfigDict(extra="forbid")

    document: str = Field(max_length=2000, description="The id of a document of the library, or of an upload.")
    k: int = Field(default=10, ge=1, le=200, description="How many documents to name.")
    where: str | None = Field(default=None, max_length=500, examples=["language = 'en' AND words > 1000"])
    by: By = "default"
    rerank: str | None = Field(
        default=None, max_length=200, description="A model that reads the best once more; see /models."
    )
    depth: int = Field(default=40, ge=1, le=200, description="How many of the best that model reads.")
    combine: bool | None = Field(
        default=None,
        description="Order them by the mean of the library's rank and that model's, the default for all but language "
        "models, or by that model alone. Scores are the library's where both count.",
    )


class Added(Answer):
    """A document that was added to the library, or the first of a file of many."""

    id: str
    title: str
    words: int = Field(description="Of all documents of the file.")
    documents: int = Field(description="How many documents the file had.")
    remarks: list[str] = Field(description="What was not read, or not surely, as pages of a scan.")


State = Literal["waiting", "running", "done", "failed", "cancelled"]


class JobStarted(Answer):
    """A job that was begun."""

    job: str = Field(examples=["j-0c1d2e3f4a5b6c7d"])


class JobStanding(Answer):
    """How far a job has come."""

    job: str
    state: State
    step: str = Field(description="What it is doing now, in words.")
    done: int
    total: int = Field(description="0 as long as nobody knows.")
    result: Ranking | Added | None = Field(description="The answer, once the state is done.")
    detail: str | None = Field(description="Why it failed, once the state is failed.")


class GridScores(Answer):
    """The parts of one document with the parts of the other."""

    level: str
    rows: list[str] = Field(description="What to call the parts of a.")
    columns: list[str]
    row_spans: list[Pair] = Field(description="Where each part lies in the text of a.")
    column_spans: list[Pair]
    scores: list[list[float]]

    @classmethod
    def of(cls, grid: Grid, level: str) -> "GridScores":
        """From a grid."""
        scores = np.round(np.nan_to_num(np.asarray(grid.scores, dtype=np.float64)), 4)
        return GridScores(
            level=level,
            rows=list(grid.rows),
            columns=list(grid.columns),
            row_spans=_pairs(grid.row_spans),
            column_spans=_pairs(grid.column_spans),
            scores=scores.tolist(),
        )


class SharedTerm(Answer):
    """A word or phrase both documents have."""

    text: str
    share: float


class SharedSpan(Answer):
    """A place of a document that stands in the other too."""

    text: str
    start: int
    end: int


class ReusedText(Answer):
    """A passage that stands in both documents."""

    a: SharedSpan
    b: SharedSpan
    words: int
    unchanged: float = Field(description="The share of its words that are the same in both.")
    common: bool = Field(description="Whether it stands in many documents of the library, so that it does not count.")


class SharedText(Answer):
    """How much of each document stands in the other, word for word or nearly."""

    share_a: float = Field(description="The share of a's words that stand in b.")
    share_b: float
    words_a: int
    words_b: int
    common_words_a: int = Field(description="Further words of a that stand in b and in many documents of the library.")
    common_words_b: int
    unchanged: float = Field(description="The share of the words of the passages that are the same in both.")
    not_compared: list[Literal["tables", "footnotes"]] = Field(
        description="Of copies, what only one of the two files can give."
    )
    passages: list[ReusedText] = Field(description="Longest first.")


class SectionRevision(Answer):
    """What happened to a section between two versions, in words."""

    heading: str
    opening: str
    start: int = Field(description="Where it begins in the text of B, a removed one in that of A.")
    status: Literal["unchanged", "renumbered", "changed", "renamed", "moved", "split", "merged", "added", "removed"]
    same: int
    added: int
    removed: int
    moved: int
    edited: bool = Field(description="Whether the text below the heading changed.")
    was: list[str] = Field(description="The headings in A, where they are others; of merged sections, all of them.")
    before: str = Field(description="The section of A that a moved one now stands before; or empty.")
    after: str = Field(description="The section of A that a moved one now stands after; or empty.")
    subsections: int = Field(description="Sections below it that moved along and are not listed.")


class CellChange(Answer):
    """A cell of a table that differs between two versions."""

    row: str = Field(description="The row's first cell.")
    column: str = Field(description="The column's first cell.")
    before: str
    after: str


class TableRevision(Answer):
    """A table that differs between two versions."""

    section: str
    status: Literal["changed", "added", "removed"]
    cells: list[CellChange]


class VersionChanges(Answer):
    """How b, as the later version, differs from a."""

    same: int
    added: int
    removed: int
    moved: int
    sections: list[SectionRevision]
    tables: list[TableRevision]
    titles: list[str] | None = Field(description="Those of A and B, where they differ and stand beside the text.")


class Comparison(Answer):
    """Two documents compared."""

    address: str = Field(description="Where the page shows this comparison.", examples=["/#/compare?a=x.md&b=y.md"])
    a: Described
    b: Described
    model: str
    score: float
    probability: float | None = Field(description="That the two belong together; null where nobody can say.")
    probability_of_rest: float | None = Field(
        description="The probability without the passages that stand in both, where one reuses the other's text."
    )
    threshold: float | None
    verdict: str | None = Field(description="Whether the two belong together, in words; null where nobody can say.")
    no_verdict: NoVerdict | None = Field(description="Why nobody can say.")
    remarks: list[str] = Field(description="Sentences that qualify the verdict, or say why there is none.")
    relation: Literal["copy", "version", "template", "reuse", "related", "unrelated"] | None = Field(
        description="What the two are to each other, by their shared text, else by the model; null if neither can tell."
    )
    shared_text: list[str] = Field(description="Sentences on the text that stands in both.")
    reuse: SharedText | None = Field(description="Null within one document.")
    revision: VersionChanges | None = Field(description="Of two versions of one text, or of one template.")
    carried_by: str
    unread: list[str] = Field(description="A sentence for each document that was read only in part.")
    coverage: dict[str, float]
    parts: dict[str, float] = Field(description="What each side (words, phrases, meaning) has in the score.")
    words: list[SharedTerm]
    sections: GridScores
    passages: list[Aligned] = Field(description="Strongest first; their contributions sum to 1.")

    @classmethod
    def of(cls, match: Match, address: str) -> "Comparison":
        """From a match."""
        return Comparison(
            address=address,
            a=Described.of(match.a),
            b=Described.of(match.b),
            model=match.model,
            score=round(match.score, 6),
            probability=match.probability,
            probability_of_rest=match.probability_of_rest,
            threshold=match.threshold,
            verdict=verdict(match),
            no_verdict=match.no_verdict,
            remarks=remarks(match),
            relation=match.relation,
            shared_text=shared_text(match),
            reuse=None if match.a is match.b else SharedText.model_validate(json.SharedText.of(match).model_dump()),
            revision=_revision(match),
            carried_by=carried_by(match),
            unread=unread(match),
            coverage=asdict(match.coverage),
            parts={name: round(share, 4) for name, share in match.parts.items()},
            words=[SharedTerm(text=term.text, share=round(term.share, 4)) for term in match.terms],
            sections=GridScores.of(match.sections, "sections"),
            passages=[Aligned.of(pair) for pair in match.alignments],
        )


class ModelName(Answer):
    """A model that may be asked for in a comparison."""

    name: str
    description: str


class Models(Answer):
    """The models that may be asked for."""

    models: list[ModelName]


class Point(Answer):
    """A document on the map."""

    id: str
    title: str
    x: float = Field(description="From 0 to 1.")
    y: float = Field(description="From 0 to 1.")
    cluster: int


class Cluster(Answer):
    """Documents that lie together."""

    number: int
    words: list[str] = Field(description="The words that distinguish them, heaviest first.")
    size: int


class Map(Answer):
    """The library in two dimensions."""

    total: int = Field(description="How many documents the library holds; of many, a sample is on the map.")
    points: list[Point]
    clusters: list[Cluster]


def _revision(match: Match) -> VersionChanges | None:
    return (
        VersionChanges.model_validate(json.VersionChanges.of(match.revision).model_dump())
        if match.relation in ONE_WORDING
        else None
    )


def _pairs(spans: tuple[Span, ...]) -> list[list[int]]:
    return [[span.start, span.end] for span in spans]
