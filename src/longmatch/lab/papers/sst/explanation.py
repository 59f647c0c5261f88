"""The subtopics of two documents: what both discuss, and what only one does (SST section 5.5), as a page (figure 8).

The page lists them, with the similarities of their sentences and both texts in colours. It has its styles inlined, no
scripts, and works offline.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import log1p
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from longmatch.documents.document import Document, Sentence, Span
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE, Clusters, spectral_clusters
from longmatch.lab.words import Floats, document_words, textrank_similarity, to_unit, written_words
from longmatch.lexical.terms import Stream
from longmatch.matching.match import Grid
from longmatch.matching.wording import count
from longmatch.render.html import asset, digest, environment
from longmatch.render.matrix import SHADES, Matrix
from longmatch.render.view import Highlight, Pane, Run
from longmatch.render.wording import percent

WORDS = 5  # that characterise a subtopic
CELLS = 240  # per side of the matrix; with more sentences a cell is the mean of several
TURN = 137.5  # degrees between the hues of consecutive subtopics, so that neighbours differ clearly


@dataclass(frozen=True)
class Subtopic:
    """A cluster of sentences of one or both documents, and the words that characterise it."""

    words: tuple[str, ...]
    a: tuple[Span, ...]  # sentences in reading order
    b: tuple[Span, ...]

    @property
    def place(self) -> Literal["both", "a", "b"]:
        """Whether it is shared by both documents, or only in one of them."""
        return "both" if self.a and self.b else "a" if self.a else "b"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        spans = {side: [[s.start, s.end] for s in sentences] for side, sentences in (("a", self.a), ("b", self.b))}
        return {"words": list(self.words), "in": self.place, **spans}


@dataclass(frozen=True)
class Subtopics:
    """All subtopics of a pair: the shared ones first, by how many sentences can be paired; then a's, then b's."""

    a: Document
    b: Document
    topics: tuple[Subtopic, ...]
    similarity: npt.NDArray[np.float64]  # 0 to 1, (sentences, sentences): ordered by topic, then a's before b's

    @property
    def shared(self) -> tuple[Subtopic, ...]:
        """The subtopics of both documents."""
        return tuple(topic for topic in self.topics if topic.place == "both")

    @property
    def overlap(self) -> tuple[float, float]:
        """The share of each document's sentences in shared subtopics."""
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
        """Write a page with the subtopics, the similarities of their sentences, and both texts; it works offline."""
        sheets = ("base.css", "match.css", "reading.css", "subtopics.css")
        style = Markup("\n").join([asset(*sheets, package=__package__), colours(len(self.topics))])
        policy = f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'"
        page = environment(__package__).get_template("subtopics.html")
        text = page.render(view=SubtopicsView(self), style=style, policy=policy)
        Path(path).write_text(text, "utf-8", errors="replace", newline="\n")
        return Path(path)


def find_subtopics(
    a: Document,
    b: Document,
    clusters: Clusters | None = None,
    similarity: Floats | None = None,
    sentences: int | None = None,
    size: float = EXPECTED_SIZE,
) -> Subtopics:
    """The subtopics of two documents.

    By direct clustering of all sentences, or of the first `sentences` of each, into groups of `size` on average; or
    those of a model: its `clusters` of the first sentences of both, and their `similarity` (0 to 1, a's sentences
    before b's).
    """
    limits = (sentences, sentences) if clusters is None else (len(clusters.a), len(clusters.b))
    sides = list(a.sentences)[: limits[0]], list(b.sentences)[: limits[1]]
    textrank = textrank_similarity(Stream.cat([document_words(a, limits[0]), document_words(b, limits[1])]))
    if clusters is None:
        clusters = Clusters.of(spectral_clusters(textrank, size), len(sides[0]))
    in_a, in_b = clusters.sizes  # shared clusters by pairable sentences, then those of a alone, then of b alone
    ranking = np.lexsort((np.arange(clusters.count), -(in_a + in_b), -in_a, -clusters.common))
    order = ranking[(in_a + in_b)[ranking] > 0].tolist()
    words = _characteristic_words(clusters, (a, sides[0]), (b, sides[1]))
    topics = tuple(
        Subtopic(
            words[topic],
            tuple(sides[0][s] for s in np.flatnonzero(clusters.a == topic)),
            tuple(sides[1][s] for s in np.flatnonzero(clusters.b == topic)),
        )
        for topic in order
    )
    place = np.empty(clusters.count, dtype=np.int64)
    place[order] = np.arange(len(order))
    rows = np.argsort(place[np.concatenate(clusters.sides)], kind="stable")
    unit = to_unit(textrank) if similarity is None else np.asarray(similarity, dtype=np.float64)
    return Subtopics(a, b, topics, unit[np.ix_(rows, rows)])


def _characteristic_words(clusters: Clusters, *sides: tuple[Document, list[Sentence]]) -> list[tuple[str, ...]]:
    """For each cluster the words frequent in it and rare in the others, in their most frequent form."""
    counts: list[Counter[str]] = [Counter() for _ in range(clusters.count)]
    forms: dict[str, Counter[str]] = {}
    for labels, (document, sentences) in zip(clusters.sides, sides, strict=True):
        for topic, sentence in zip(labels.tolist(), sentences, strict=True):
            for word, written in written_words(sentence.of(document.readable), document.language):
                counts[topic][word] += 1
                forms.setdefault(word, Counter())[written] += 1
    topics_with = Counter(word for words in counts for word in words)
    topics = sum(bool(words) for words in counts)

    def best(words: Counter[str]) -> tuple[str, ...]:
        weights = {
            word: times * log1p(topics / topics_with[word]) for word, times in words.items() if not word.isdigit()
        }
        ranked = sorted(weights, key=lambda word: (-weights[word], word))[:WORDS]
        return tuple(min(forms[word], key=lambda form: (-forms[word][form], form)) for word in ranked)

    return [best(words) for words in counts]


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
        self.subtopics, self.topics, self.shared = subtopics, subtopics.topics, len(subtopics.shared)
        self.a, self.b = self._pane("a", subtopics.a), self._pane("b", subtopics.b)
        only = [sum(topic.place == side for topic in self.topics) for side in ("a", "b")]
        of_a, of_b = map(percent, subtopics.overlap)
        self.summary = (
            f"{count(len(self.topics), 'subtopic')}: {self.shared} in both texts, {only[0]} only in A, {only[1]} only "
            f"in B. {of_a} of the sentences of A and {of_b} of those of B are in shared subtopics."
        )
        self.unread: list[str] = []  # a notice for each document that was truncated
        for document, pane in ((subtopics.a, self.a), (subtopics.b, self.b)):
            read, sentences = len(pane.highlights), sum(1 for _ in document.sentences)
            if read < sentences:
                self.unread.append(f"Only the first {read} of {sentences} sentences of “{document.title}” were read.")
        self.cells = reduced(subtopics.similarity, CELLS)
        empty = Document("", "", "", ())
        self.matrix = Matrix(Grid((), (), (), (), self.cells.astype(np.float32)), empty, empty, within=True)

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
