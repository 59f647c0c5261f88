"""Subtopics as one HTML file: their list, the similarities of their sentences (SST figure 8), both texts in colours.

The file has its styles inlined, no scripts, and works offline.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from longmatch.documents.document import Document
from longmatch.lab.papers.sst.explanation import Subtopic, Subtopics
from longmatch.matching.match import Grid
from longmatch.render.html import asset, digest, environment
from longmatch.render.marking import Run
from longmatch.render.matrix import SHADES, Matrix
from longmatch.render.view import Highlight, Pane
from longmatch.render.wording import count, percent

CELLS = 240  # per side of the matrix; with more sentences a cell is the mean of several
TURN = 137.5  # degrees between the hues of consecutive subtopics, so that neighbours differ clearly
_PLACES = {"both": "in both", "a": "only in A", "b": "only in B"}


@dataclass(frozen=True)
class TopicPane(Pane):
    """One document with its sentences in the colours of their subtopics."""

    topics: list[int]  # the subtopic of each highlight
    shared: int  # number of shared subtopics, which come first

    def look(self, run: Run) -> str:
        """The style classes of a sentence: shared subtopics have a coloured background, others are underlined."""
        topic = self.topics[run.passages[0]]
        return f"topic-{topic} {'shared' if topic < self.shared else 'own'}"


@dataclass(frozen=True)
class Box:
    """A subtopic's square in the matrix."""

    number: int
    start: float
    size: float
    of_a: float  # the part that is sentences of a
    title: str


class SubtopicsView:
    """The template's view of the subtopics."""

    def __init__(self, subtopics: Subtopics) -> None:
        self.subtopics = subtopics
        self.topics = subtopics.topics
        self.shared = len(subtopics.shared)
        self.a, self.b = self._pane("a", subtopics.a), self._pane("b", subtopics.b)

    @property
    def summary(self) -> str:
        """The number of subtopics, and how much of each document is in shared ones."""
        sides = [sum(topic.place == side for topic in self.topics) for side in ("a", "b")]
        a, b = map(percent, self.subtopics.overlap)
        return (
            f"{count(len(self.topics), 'subtopic')}: {self.shared} in both texts, {sides[0]} only in A, {sides[1]} "
            f"only in B. {a} of the sentences of A and {b} of those of B are in shared subtopics."
        )

    @property
    def unread(self) -> list[str]:
        """A notice for each document that was truncated."""
        sides = ((self.subtopics.a, self.a), (self.subtopics.b, self.b))
        totals = [(document, len(pane.highlights), sum(1 for _ in document.sentences)) for document, pane in sides]
        return [
            f"Only the first {read} of {all} sentences of “{d.title}” were read."
            for d, read, all in totals
            if read < all
        ]

    def place(self, topic: Subtopic) -> str:
        """Which documents a subtopic occurs in."""
        return _PLACES[topic.place]

    @cached_property
    def cells(self) -> npt.NDArray[np.float64]:
        """The similarities, at most CELLS per side."""
        return reduced(self.subtopics.similarity, CELLS)

    @cached_property
    def matrix(self) -> Matrix:
        """The picture's values as shades."""
        empty = Document("", "", "", ())
        return Matrix(Grid((), (), (), (), self.cells.astype(np.float32)), empty, empty, within=True)

    @property
    def shades(self) -> Iterator[tuple[int, str]]:
        """Each shade with an SVG path that fills its cells, run by run."""
        paths: dict[int, list[str]] = {}
        for y, row in enumerate(self.matrix.shades):
            x = 0
            for shade, run in groupby(row):
                width = sum(1 for _ in run)
                paths.setdefault(shade, []).append(f"M{x} {y}h{width}v1h-{width}z")
                x += width
        return ((shade, "".join(paths[shade])) for shade in range(1, SHADES + 1) if shade in paths)

    @property
    def boxes(self) -> Iterator[Box]:
        """The subtopics along the diagonal."""
        scale = len(self.cells) / max(1, len(self.subtopics.similarity))
        start = 0
        for number, topic in enumerate(self.topics):
            size = len(topic.a) + len(topic.b)
            title = f"{number + 1}: {', '.join(topic.words)} ({len(topic.a)} of A, {len(topic.b)} of B)"
            yield Box(number, start * scale, size * scale, len(topic.a) * scale, title)
            start += size

    def _pane(self, side: Literal["a", "b"], document: Document) -> TopicPane:
        spans = [(s, n) for n, topic in enumerate(self.topics) for s in (topic.a if side == "a" else topic.b)]
        spans.sort(key=lambda pair: pair[0].start)
        highlights = [Highlight(span, "meaning", False, 1, 1) for span, _ in spans]
        return TopicPane(side, document, highlights, [number for _, number in spans], self.shared)


def reduced(values: npt.NDArray[np.float64], limit: int) -> npt.NDArray[np.float64]:
    """Average a square matrix down to at most `limit` cells per side.

    >>> reduced(np.arange(16.0).reshape(4, 4), 2).tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    size = len(values)
    if size <= limit:
        return values
    edges = np.linspace(0, size, limit + 1).astype(int)
    widths = np.diff(edges)
    sums = np.add.reduceat(np.add.reduceat(values, edges[:-1], axis=0), edges[:-1], axis=1)
    means: npt.NDArray[np.float64] = sums / (widths[:, None] * widths)
    return means


def colours(topics: int) -> Markup:
    """A hue and a number for each subtopic; choosing one fades the others and hides paragraphs without it."""
    rules = (
        f'.topic-{n} {{ --turn: {n * TURN % 360:.0f}deg }} mark.topic-{n}::before {{ content: "{n + 1}" }}\n'
        f".subtopics:has(#topic-{n}:checked) :is(mark, .box):not(.topic-{n}) {{ --faded: 1 }}\n"
        f".subtopics:has(#topic-{n}:checked) mark:not(.topic-{n})::before {{ content: none }}\n"
        f".subtopics:has(#topic-{n}:checked) .pane :is(section, p[data-at]):not(:has(.topic-{n})) {{ display: none }}"
        for n in range(topics)
    )
    return Markup("\n".join(rules))


def write_subtopics(subtopics: Subtopics, path: Path) -> Path:
    """Write the page to `path` and return it."""
    style = Markup("\n").join(
        [
            asset("base.css", "match.css", "reading.css", "subtopics.css", package=__package__),
            colours(len(subtopics.topics)),
        ]
    )
    policy = f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'"
    page = environment(__package__).get_template("subtopics.html")
    text = page.render(view=SubtopicsView(subtopics), style=style, policy=policy)
    path.write_text(text, "utf-8", errors="replace", newline="\n")
    return path
