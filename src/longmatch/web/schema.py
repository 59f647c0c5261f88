"""The interface's answers and questions, typed; what results are, `render/json.py` says."""

from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from longmatch.documents.containers import shows_pages
from longmatch.documents.document import Document
from longmatch.matching.hits import Hit, SectionHit
from longmatch.matching.match import Grid, Match
from longmatch.render import json

By = Literal["default", "sdr"]
Pair = Annotated[list[int], Field(min_length=2, max_length=2)]  # the first character and the one after the last


class Mistake(json.View):
    """Why a request has no answer."""

    detail: str = Field(examples=["The library has no document notes.txt. Look at the list of documents."])


class Health(json.View):
    """That the server answers."""

    status: Literal["ok"] = "ok"
    version: str = Field(description="Of longmatch.")
    documents: int
    ready: bool = Field(description="Whether the model is open; before that the first question takes some seconds.")


class LibraryFacts(json.View):
    """How much the library holds, and what made it."""

    name: str
    documents: int
    words: int
    model: str
    backbone: str
    vectors: str = Field(
        description="The numbers that sentence vectors are kept in; none where they are made from tokens.",
        examples=["float16"],
    )
    computes: str = Field(description="Precision, engine and device of the first encoding.")
    schema_number: int = Field(serialization_alias="schema", description="Of the store's layout.")
    uploads: dict[str, int] = Field(description="What an upload may have at most: bytes, words.")
    formats: list[str] = Field(description="The kinds of files that can be uploaded.", examples=[[".pdf", ".md"]])
    writable: bool = Field(description="Whether documents can be added, and those removed that were.")


class Described(json.DocumentFacts):
    """What a document is."""

    shows_pages: bool = Field(description="Whether its pages can be shown as pictures: it is a PDF.")

    @classmethod
    def of(cls, document: Document) -> "Described":
        """From a document."""
        facts: dict[str, Any] = {name: getattr(document, name) for name in json.DocumentFacts.model_fields}
        return Described(**facts, shows_pages=shows_pages(document.id, document.source))


class Listing(json.View):
    """Some of the documents of the library."""

    total: int = Field(description="How many there are, those before and after these counted.")
    documents: list[Described]


class ParagraphText(json.View):
    """A paragraph as a reader wants to see it."""

    start: int
    end: int
    page: int | None = Field(description="The page or slide it begins on, from 1, where the format has them.")
    kind: str = Field(description="text, caption, footnote, table, reference or code.")
    text: str


class SectionText(json.View):
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
            {
                "paragraphs": [
                    {"text": p.of(text)} | {name: getattr(p, name) for name in ("start", "end", "page", "kind")}
                    for p in section.paragraphs
                ]
            }
            | {name: getattr(section, name) for name in ("heading", "level", "start", "end")}
            for section in document.sections
        ]
        removal = {"removable": removed_together > 0, "removed_together": removed_together}
        return cls.model_validate({**Described.of(document).model_dump(), **removal, "sections": sections})


class PastedText(BaseModel):
    """A text to upload, instead of a file."""

    text: str = Field(min_length=1, examples=["# Notes\n\nThe tower's lime mortar was renewed in spring."])
    title: str = Field(default="", max_length=500)


class Uploaded(Described):
    """An upload, ready to be asked about: its id stands wherever a document's id may."""

    upload: str = Field(description="The upload's id.", examples=["u-9f2c4b7a1d3e5f60"])
    sections: int
    remarks: list[str] = Field(description="What was not read, or not surely, as pages of a scan.")


class PassageText(json.PassageText):
    """A passage of a document."""

    text: str = Field(validation_alias="shown")  # its markup blanked


class Aligned(json.Aligned):
    """Two passages that answer each other."""

    a: PassageText
    b: PassageText


class OfHit(Described):
    """What an answer says of a hit, and of its document."""

    @classmethod
    def of_hit(cls, hit: Hit | SectionHit, known: Described | None = None) -> Self:
        """From a hit, and what is known of its document already."""
        facts = (known or Described.of(hit.document)).model_dump()
        names = {str(field.validation_alias or name) for name, field in cls.model_fields.items()}
        return cls.model_validate({name: getattr(hit, name) for name in names - facts.keys()} | facts)


class Found(json.Judgement, OfHit):
    """A document that belongs with the one asked about."""

    why: list[Aligned] = Field(description="The passages that say most about the two.")


class Same(json.SameText, Described):
    """A document of the library that is the upload asked about."""


class FoundSection(json.SectionPlace, OfHit):
    """A section of a document that answers a question."""

    passage: PassageText = Field(description="The sentence in it that answers best.")
    paragraph: str = Field(description="The paragraph around that sentence; the sentence alone where it is very long.")


class Ranking(json.View):
    """The documents that belong most with one, best first."""

    query: Described
    by: str = Field(description="The model whose scores they have.")
    documents: int = Field(description="How many the library holds.")
    remarks: list[str] = Field(description="What to know before reading the hits, as that none of them is close.")
    same: list[Same] = Field(
        description="Entries of the library that are the upload itself; they are not among the hits."
    )
    sections: list[FoundSection] = Field(description="For a question, the sections that answer it best; else none.")
    reader: str | None = Field(description="The model that read the best of them, where one did.")
    deeper: bool = Field(description="Whether one can: the question may be asked again with `deep`.")
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
    deep: bool = Field(
        default=False, description="Of a question, read the best sections with a model made for it, if the server can."
    )


class Added(json.View):
    """A document that was added to the library, or the first of a file of many."""

    id: str
    title: str
    words: int = Field(description="Of all documents of the file.")
    documents: int = Field(description="How many documents the file had.")
    remarks: list[str] = Field(description="What was not read, or not surely, as pages of a scan.")


State = Literal["waiting", "running", "done", "failed", "cancelled"]


class JobStarted(json.View):
    """A job that was begun."""

    job: str = Field(examples=["j-0c1d2e3f4a5b6c7d"])


class JobStanding(json.View):
    """How far a job has come."""

    job: str = Field(validation_alias="id")
    state: State
    step: str = Field(description="What it is doing now, in words.")
    done: int
    total: int = Field(description="0 as long as nobody knows.")
    result: Ranking | Added | None = Field(description="The answer, once the state is done.")
    detail: str | None = Field(description="Why it failed, once the state is failed.")


class GridScores(json.Grid):
    """The parts of one document with the parts of the other."""

    level: str
    row_spans: list[Pair] = Field(description="Where each part lies in the text of a.")
    column_spans: list[Pair]

    @classmethod
    def of(cls, grid: Grid, level: str) -> "GridScores":
        """From a grid."""
        places = {name: [[s.start, s.end] for s in getattr(grid, name)] for name in ("row_spans", "column_spans")}
        values = {name: getattr(grid, name) for name in json.Grid.model_fields}
        return cls.model_validate({"level": level, **values, **places})


class Comparison(json.Comparison):
    """Two documents compared."""

    address: str = Field(description="Where the page shows this comparison.", examples=["/#/compare?a=x.md&b=y.md"])
    a: Described
    b: Described
    shared_text: list[str] = Field(description="Sentences on the text that stands in both.")
    carried_by: str
    unread: list[str] = Field(description="A sentence for each document that was read only in part.")
    coverage: dict[str, float]  # type: ignore[assignment]
    names: list[str] = Field(default=[], exclude=True)
    sections: GridScores
    passages: list[Aligned] = Field(  # type: ignore[assignment]
        description="Strongest first; their contributions sum to 1."
    )

    @classmethod
    def at(cls, match: Match, address: str) -> "Comparison":
        """From a match."""
        sections = GridScores.of(match.sections, "sections")
        documents = {"a": Described.of(match.a), "b": Described.of(match.b)}
        return cls.of(match, **documents, address=address, sections=sections, coverage=asdict(match.coverage))


class ModelName(json.View):
    """A model that may be asked for in a comparison."""

    name: str
    description: str


class Models(json.View):
    """The models that may be asked for."""

    models: list[ModelName]


class Point(json.View):
    """A document on the map."""

    id: str
    title: str
    x: float = Field(description="From 0 to 1.")
    y: float = Field(description="From 0 to 1.")
    cluster: int


class Cluster(json.View):
    """Documents that lie together."""

    number: int
    words: list[str] = Field(description="The words that distinguish them, heaviest first.")
    size: int


class Map(json.View):
    """The library in two dimensions."""

    total: int = Field(description="How many documents the library holds; of many, a sample is on the map.")
    points: list[Point]
    clusters: list[Cluster]
