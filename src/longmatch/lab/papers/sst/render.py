"""Subtopics as one HTML file: their list, how alike their sentences are (SST figure 8), both texts in their colours.

The file holds its own styles, loads nothing, runs nothing, and opens offline.
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
from longmatch.lab.papers.sst.subtopics import Subtopic, Subtopics
from longmatch.matching.match import Grid
from longmatch.matching.render.html import asset, digest, environment
from longmatch.matching.render.marking import Run
from longmatch.matching.render.matrix import SHADES, Matrix
from longmatch.matching.render.view import Highlight, Pane
from longmatch.matching.render.wording import count, percent

CELLS = 240  # along one side of the picture; of more sentences a cell shows the mean of several
TURN = 137.5  # degrees between the hues of neighbouring subtopics, so that no two near each other look alike
_PLACES = {"both": "in both", "a": "only in A", "b": "only in B"}


@dataclass(frozen=True)
class TopicPane(Pane):
    """One document, its sentences in the colours of their subtopics."""

    topics: list[int]  # of each highlight
    shared: int  # the subtopics before this number are of both documents

    def look(self, run: Run) -> str:
        """The style classes of a sentence: a shared subtopic is washed in its colour, one of its own is underlined."""
        topic = self.topics[run.passages[0]]
        return f"topic-{topic} {'shared' if topic < self.shared else 'own'}"


@dataclass(frozen=True)
class Box:
    """A subtopic's square in the picture."""

    number: int
    start: float
    size: float
    of_a: float  # how much of it are sentences of a
    title: str


class SubtopicsView:
    """What the template sees."""

    def __init__(self, subtopics: Subtopics) -> None:
        self.subtopics = subtopics
        self.topics = subtopics.topics
        self.shared = len(subtopics.shared)
        self.a, self.b = self._pane("a", subtopics.a), self._pane("b", subtopics.b)

    @property
    def summary(self) -> str:
        """How many there are, and how much of each document they share."""
        sides = [sum(topic.place == side for topic in self.topics) for side in ("a", "b")]
        a, b = map(percent, self.subtopics.overlap)
        return (
            f"{count(len(self.topics), 'subtopic')}: {self.shared} in both texts, {sides[0]} only in A, {sides[1]} "
            f"only in B. Of the sentences, {a} of A and {b} of B stand in a subtopic that both share."
        )

    @property
    def unread(self) -> list[str]:
        """A sentence for each document that was read only in part."""
        sides = ((self.subtopics.a, self.a), (self.subtopics.b, self.b))
        totals = [(document, len(pane.highlights), sum(1 for _ in document.sentences)) for document, pane in sides]
        return [
            f"Only the first {read} of {all} sentences of “{d.title}” were read."
            for d, read, all in totals
            if read < all
        ]

    def place(self, topic: Subtopic) -> str:
        """Where a subtopic is found."""
        return _PLACES[topic.place]

    @cached_property
    def cells(self) -> npt.NDArray[np.float64]:
        """The similarities, at most CELLS along a side."""
        return reduced(self.subtopics.similarity, CELLS)

    @cached_property
    def matrix(self) -> Matrix:
        """The picture's values as shades."""
        nothing = Document("", "", "", ())
        return Matrix(Grid((), (), (), (), self.cells.astype(np.float32)), nothing, nothing, within=True)

    @property
    def shades(self) -> Iterator[tuple[int, str]]:
        """Each shade and the path that fills its cells, rows in runs of one shade."""
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
        at = 0
        for number, topic in enumerate(self.topics):
            size = len(topic.a) + len(topic.b)
            title = f"{number + 1}: {', '.join(topic.words)} ({len(topic.a)} of A, {len(topic.b)} of B)"
            yield Box(number, at * scale, size * scale, len(topic.a) * scale, title)
            at += size

    def _pane(self, side: Literal["a", "b"], document: Document) -> TopicPane:
        spans = [(s, n) for n, topic in enumerate(self.topics) for s in (topic.a if side == "a" else topic.b)]
        spans.sort(key=lambda pair: pair[0].start)
        highlights = [Highlight(span, "meaning", False, 1, 1) for span, _ in spans]
        return TopicPane(side, document, highlights, [number for _, number in spans], self.shared)


def reduced(values: npt.NDArray[np.float64], most: int) -> npt.NDArray[np.float64]:
    """A square of at most `most` cells a side, each the mean of the rows and columns it stands for.

    >>> reduced(np.arange(16.0).reshape(4, 4), 2).tolist()
    [[2.5, 4.5], [10.5, 12.5]]
    """
    size = len(values)
    if size <= most:
        return values
    edges = np.linspace(0, size, most + 1).astype(int)
    widths = np.diff(edges)
    sums = np.add.reduceat(np.add.reduceat(values, edges[:-1], axis=0), edges[:-1], axis=1)
    found: npt.NDArray[np.float64] = sums / (widths[:, None] * widths)
    return found


def colours(topics: int) -> Markup:
    """A hue and a number for each subtopic; when one is chosen the others fade, and paragraphs without it go."""
    rules = (
        f'.topic-{n} {{ --turn: {n * TURN % 360:.0f}deg }} mark.topic-{n}::before {{ content: "{n + 1}" }}\n'
        f".subtopics:has(#topic-{n}:checked) :is(mark, .box):not(.topic-{n}) {{ --faded: 1 }}\n"
        f".subtopics:has(#topic-{n}:checked) mark:not(.topic-{n})::before {{ content: none }}\n"
        f".subtopics:has(#topic-{n}:checked) .pane :is(section, p[data-at]):not(:has(.topic-{n})) {{ display: none }}"
        for n in range(topics)
    )
    return Markup("\n".join(rules))


def write_subtopics(subtopics: Subtopics, path: Path) -> Path:
    """Write the page and give back where it is."""
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
