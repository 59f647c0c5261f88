"""What a comparison found: the score, and the sections and passages that carry it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document, Span, brief
from longmatch.matching.presentable import choose
from longmatch.matching.wording import LIKELY, NoVerdict, likelihood
from longmatch.reuse.reuse import IsCommon, Relation, Reuse, find_reuse
from longmatch.reuse.revision import Revision, revise

Floats = npt.NDArray[np.float32]
Level = Literal["sections", "chunks", "sentences"]
JudgeRest = Callable[[Reuse], float | None]
"""The probability by what stands outside of the passages that two documents share."""


@dataclass(frozen=True)
class Passage:
    """A piece of one document, with the heading it stands under."""

    text: str
    start: int
    end: int
    section: str
    readable: str = ""  # the text with its markup blanked, where there is markup
    page: int | None = None  # on which it begins, from 1, where the format has pages

    def __repr__(self) -> str:
        """In one line, with the beginning of the text."""
        return f"<Passage {brief(self.shown)!r} of {brief(self.section, 40)!r}>"

    @property
    def shown(self) -> str:
        """The text as a reader wants to see it."""
        return self.readable or self.text


@dataclass(frozen=True)
class Alignment:
    """A passage of one document and the passage of the other that answers it."""

    a: Passage
    b: Passage
    score: float  # how alike the two passages are: 0 by chance, 1 when identical
    contribution: float  # share of the document score this pair carries; all pairs sum to 1
    lexical: float = 0.0  # the part of the contribution that comes from shared words and phrases
    words: tuple[str, ...] = ()  # the shared words that weigh most
    evidence: bool = True  # False: listed for the sum of the contributions alone, and not shown as evidence
    paraphrase: bool = False  # whether the two say the same in other words

    @property
    def kind(self) -> Literal["keyword", "meaning"]:
        """Whether shared words or meaning carry most of it; meaning, where it is said in other words."""
        return "keyword" if self.lexical > self.contribution / 2 and not self.paraphrase else "meaning"


@dataclass(frozen=True)
class Grid:
    """Scores of the parts of one document with the parts of the other, labelled on both axes."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_spans: tuple[Span, ...]
    column_spans: tuple[Span, ...]
    scores: Floats  # (rows, columns)


@dataclass(frozen=True)
class Term:
    """A word or phrase both documents share."""

    text: str
    share: float  # of the lexical part of the score


@dataclass(frozen=True)
class Coverage:
    """The share of each document's running text that was read; tables and reference lists are not running text."""

    a: float = 1.0
    b: float = 1.0


@dataclass(frozen=True)
class Match:
    """Two documents compared. `score` is 0 for unrelated documents and 1 for a document with itself."""

    a: Document
    b: Document
    score: float
    sections: Grid
    alignments: tuple[Alignment, ...]  # those that say most first
    model: str
    probability: float | None = None  # that the two belong together, where the model can tell
    threshold: float | None = None  # the score from which they do, where a trained model has chosen one
    measured: bool = False  # whether a score means the same for any two documents
    why_not: NoVerdict = "model"  # why there is no probability, where there is none
    coverage: Coverage = Coverage()
    parts: dict[str, float] = field(default_factory=dict)  # each side's share of the score: words, meaning, ...
    labels: Mapping[str, str] = field(default_factory=dict)  # of the sides, for people
    terms: tuple[Term, ...] = ()
    names: tuple[str, ...] = ()  # of documents that both name, the rarest first
    grids: Callable[[Level], Grid] | None = field(default=None, repr=False, compare=False)
    is_common: IsCommon | None = field(default=None, repr=False, compare=False)  # boilerplate of the collection
    judge_rest: JudgeRest | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """In one line, without the texts."""
        said = f": {likelihood(self.probability)}" if self.measured and self.probability is not None else ""
        return f"<Match of {brief(self.a.id)!r} and {brief(self.b.id)!r}{said}>"

    @cached_property
    def passages(self) -> Grid:
        """Every sentence of one document with every sentence of the other."""
        return self.at("sentences")

    def at(self, level: Level) -> Grid:
        """The scores at a level: sections, chunks (about 250 tokens) or sentences."""
        if level == "sections" or self.grids is None:
            return self.sections
        return self.grids(level)

    @property
    def evidence(self) -> tuple[Alignment, ...]:
        """The pairs that say something about the two in particular."""
        return tuple(pair for pair in self.alignments if pair.evidence)

    def best(self, count: int = 5) -> tuple[Alignment, ...]:
        """The pairs to show: of those that read well by themselves, the ones that say most about the two."""
        return tuple(choose(self.evidence, count, lambda pair: (pair.a.shown, pair.b.shown)))

    @cached_property
    def reuse(self) -> Reuse:
        """The passages that stand in both documents word for word, or nearly; none within one document."""
        return Reuse() if self.a is self.b else find_reuse(self.a, self.b, self.is_common)

    @property
    def no_verdict(self) -> NoVerdict | None:
        """Why nobody can say whether the two belong together; None where the probability or a threshold says it."""
        if self.a is self.b or (self.threshold is not None and not self.measured):
            return None
        return None if self.measured and self.probability is not None else self.why_not

    @property
    def relation(self) -> Relation | None:
        """What the two are to each other: by their shared text, else by the model; None where that cannot tell."""
        if self.a is self.b:
            return None
        if self.reuse.relation is not None:
            return self.reuse.relation
        if self.measured and self.probability is not None:
            return "related" if self.probability >= LIKELY else "unrelated"
        return None if self.threshold is None else "related" if self.score >= self.threshold else "unrelated"

    @cached_property
    def probability_of_rest(self) -> float | None:
        """The probability without the passages that stand in both, where one document reuses the other's text."""
        if self.judge_rest is None or self.relation not in ("reuse", "template"):
            return None
        return self.judge_rest(self.reuse)

    @cached_property
    def revision(self) -> Revision:
        """How b differs from a, word by word and section by section, as the later version of one text."""
        return revise(self.a, self.b)


def heading_at(document: Document, place: int) -> str:
    """The heading above a place of a document's text."""
    return next((section.heading for section in reversed(document.sections) if section.start <= place), "")
