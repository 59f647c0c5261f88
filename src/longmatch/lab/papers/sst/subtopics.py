"""The subtopics of two documents: what both speak of, and what only one does."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document, Span


@dataclass(frozen=True)
class Subtopic:
    """Sentences of both documents, or of one, that belong together, and the words that tell them from the others."""

    words: tuple[str, ...]
    a: tuple[Span, ...]  # its sentences in reading order
    b: tuple[Span, ...]

    @property
    def place(self) -> Literal["both", "a", "b"]:
        """Whether it aligns the two documents, or complements: is of one alone."""
        return "both" if self.a and self.b else "a" if self.a else "b"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        spans = {side: [[s.start, s.end] for s in found] for side, found in (("a", self.a), ("b", self.b))}
        return {"words": list(self.words), "in": self.place, **spans}


@dataclass(frozen=True)
class Subtopics:
    """All subtopics of a pair: those of both documents first, what can be paired off most at the top; then a's, b's."""

    a: Document
    b: Document
    topics: tuple[Subtopic, ...]
    similarity: npt.NDArray[np.float64]  # 0 to 1, (sentences, sentences): topic by topic, in each a's before b's

    @property
    def shared(self) -> tuple[Subtopic, ...]:
        """Those of both documents."""
        return tuple(topic for topic in self.topics if topic.place == "both")

    @property
    def overlap(self) -> tuple[float, float]:
        """The share of each document's sentences that stand in shared subtopics."""
        a, b = (
            sum(len(t.a if side == "a" else t.b) for t in self.shared)
            / max(1, sum(len(t.a if side == "a" else t.b) for t in self.topics))
            for side in ("a", "b")
        )
        return a, b

    def to_dict(self) -> dict[str, Any]:
        """For JSON, without the similarities."""
        a, b = (round(share, 4) for share in self.overlap)
        return {
            "a": {"id": self.a.id, "title": self.a.title, "shared": a},
            "b": {"id": self.b.id, "title": self.b.title, "shared": b},
            "subtopics": [topic.to_dict() for topic in self.topics],
        }

    def to_html(self, path: str | Path) -> Path:
        """Write a page that shows the subtopics, how alike their sentences are, and both texts; it works offline."""
        from longmatch.lab.papers.sst.render import write_subtopics

        return write_subtopics(self, Path(path))
