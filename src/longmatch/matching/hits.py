"""What a ranking found."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TextIO, overload

from longmatch.documents.document import Document, brief
from longmatch.errors import LongmatchError
from longmatch.matching.match import Alignment, NoVerdict
from longmatch.matching.same_document import SameDocument, same_remarks
from longmatch.matching.spreadsheet import write_csv
from longmatch.render.verdict import in_words, likelihood, ranking_remarks
from longmatch.render.wording import ordered_by_both
from longmatch.reuse.copies import are_copies

if TYPE_CHECKING:
    from pandas import DataFrame

    from longmatch.matching.section_hits import SectionHits

COLUMNS = (
    "id",
    "title",
    "score",
    "probability",
    "relation",
    "percentile",
    "source",
    "query_passage",
    "passage",
)  # for programs
SHOWN = ("id", "title", "verdict", "probability", "relation", "source", "query_passage", "passage")  # for people


@dataclass(frozen=True)
class Hit:
    """A document found for a query, and why."""

    document: Document
    score: float
    percentile: float  # share of the collection that scores lower, in percent
    why: tuple[Alignment, ...] = ()  # the passages that say most about the two
    probability: float | None = None  # that it belongs with the query, where the model can tell
    relation: Literal["copy"] | None = None  # to the query, where it holds the same text
    why_not: NoVerdict = "model"  # why there is no probability, where there is none

    def __repr__(self) -> str:
        """In one line, without the text."""
        said = "" if self.probability is None else f", {in_words(self.probability)}"
        return f"<Hit {brief(self.id)!r}: {brief(self.title, 80)!r}{said}>"

    def _repr_html_(self) -> str:
        return Hits([self])._repr_html_()

    @property
    def id(self) -> str:
        """The document's id."""
        return self.document.id

    @property
    def title(self) -> str:
        """The document's title."""
        return self.document.title

    @property
    def verdict(self) -> str | None:
        """The probability in a word or two, as `almost certainly`."""
        return None if self.probability is None else likelihood(self.probability)

    @property
    def no_verdict(self) -> NoVerdict | None:
        """Why nobody can say whether it belongs with the query; None where the probability says it."""
        return self.why_not if self.probability is None else None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "score": round(self.score, 6),
            "probability": None if self.probability is None else round(self.probability, 6),
            "verdict": self.verdict,
            "relation": self.relation,
            "no_verdict": self.no_verdict,
            "percentile": round(self.percentile, 2),
            "passages": [alignment.to_dict() for alignment in self.why],
        }

    def to_row(self) -> dict[str, Any]:
        """One row of a table: the best pair of passages stands for all."""
        best = self.why[0] if self.why else None
        known = self.to_dict()
        known |= {"source": self.document.source}
        return known | {"query_passage": best.a.shown if best else "", "passage": best.b.shown if best else ""}


class Hits(list[Hit]):
    """The documents found for a query, best first: a list that a notebook shows as a table."""

    stands_out: bool | None = None  # for a question, whether any document has more to do with it than the others
    sections: "SectionHits | None" = None  # for a question, the sections that answer it best
    left_out: tuple[str, ...] = ()  # sentences on documents that lack a value which the condition names
    same: tuple[SameDocument, ...] = ()  # entries of the library that are the query itself; they are no hits
    ordered_by: tuple[str, str] | None = None  # two models whose orders are averaged; the scores are the first one's

    @classmethod
    def of(cls, query: Document, hits: Iterable[Hit]) -> "Hits":
        """The hits of a ranking, those labelled that are copies of the query."""
        return cls(replace(hit, relation="copy") if are_copies(query, hit.document) else hit for hit in hits)

    @property
    def remarks(self) -> list[str]:
        """What to know before reading them: where the query is, who ordered them, that none may belong, or none can be
        said to.
        """
        together = [ordered_by_both(*self.ordered_by)] if self and self.ordered_by else []
        ranking = ranking_remarks(self, self.stands_out)
        return [*same_remarks(self.same), *together, *ranking, *self.left_out]

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> Hit: ...
    @overload
    def __getitem__(self, index: slice, /) -> "Hits": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "Hit | Hits":
        found = super().__getitem__(index)
        return found if isinstance(found, Hit) else self._with_remarks(Hits(found))

    def _with_remarks(self, hits: "Hits") -> "Hits":
        hits.stands_out, hits.sections, hits.left_out = self.stands_out, self.sections, self.left_out
        hits.same, hits.ordered_by = self.same, self.ordered_by
        return hits

    def __repr__(self) -> str:
        """In one line: how many, and the best."""
        return f"<Hits: {len(self)} documents, best {brief(self[0].id)!r}>" if self else "<Hits: none>"

    def _repr_html_(self) -> str:
        from longmatch.render.notebook import hits_html

        return hits_html(self)

    def to_csv(self, file: TextIO) -> None:
        """Write a line per document to an open file, under a line of column names; no cell can be run as a formula."""
        write_csv(file, SHOWN, (hit.to_row() for hit in self))

    def to_pandas(self) -> "DataFrame":
        """A data frame with a row per document."""
        try:
            from pandas import DataFrame
        except ModuleNotFoundError as error:
            raise LongmatchError("A data frame needs pandas. Install it: pip install pandas.") from error
        return DataFrame([hit.to_row() for hit in self], columns=list(COLUMNS))
