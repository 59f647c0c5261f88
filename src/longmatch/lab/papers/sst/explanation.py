"""The subtopics of two documents for readers: what both discuss, and what only one does (SST section 5.5, figure 8)."""

from collections import Counter
from dataclasses import dataclass
from math import log1p
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from longmatch.documents.document import Document, Sentence, Span
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE, Clusters, spectral_clusters
from longmatch.lab.words.similarity import Floats, textrank_similarity, to_unit
from longmatch.lab.words.text_words import concatenated, document_words, written_words

WORDS = 5  # that characterise a subtopic


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
        from longmatch.lab.papers.sst.render import write_subtopics

        return write_subtopics(self, Path(path))


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
    textrank = textrank_similarity(concatenated(document_words(a, limits[0]), document_words(b, limits[1])))
    if clusters is None:
        clusters = Clusters.of(spectral_clusters(textrank, size), len(sides[0]))
    order = _order(clusters)
    words = _characteristic_words(clusters, _word_counts(a, sides[0]), _word_counts(b, sides[1]))
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


def _order(clusters: Clusters) -> list[int]:
    """Shared clusters by pairable sentences, then those of a alone, then of b alone; large before small."""
    a, b = clusters.sizes
    numbers = np.lexsort((np.arange(clusters.count), -(a + b), -a, -clusters.common))
    return [int(n) for n in numbers if a[n] + b[n]]


def _word_counts(document: Document, sentences: list[Sentence]) -> list[Counter[tuple[str, str]]]:
    return [Counter(written_words(s.of(document.readable), document.language)) for s in sentences]


def _characteristic_words(clusters: Clusters, *sides: list[Counter[tuple[str, str]]]) -> list[tuple[str, ...]]:
    """For each cluster the words frequent in it and rare in the others, in their most frequent form."""
    counts: list[Counter[str]] = [Counter() for _ in range(clusters.count)]
    forms: dict[str, Counter[str]] = {}
    for labels, sentences in zip(clusters.sides, sides, strict=True):
        for topic, words in zip(labels.tolist(), sentences, strict=True):
            for (word, written), times in words.items():
                counts[topic][word] += times
                forms.setdefault(word, Counter())[written] += times
    topics_with = Counter(word for words in counts for word in words)
    topics = sum(bool(words) for words in counts)

    def best(words: Counter[str]) -> tuple[str, ...]:
        weights = {
            word: times * log1p(topics / topics_with[word]) for word, times in words.items() if not word.isdigit()
        }
        ranked = sorted(weights, key=lambda word: (-weights[word], word))[:WORDS]
        return tuple(min(forms[word], key=lambda form: (-forms[word][form], form)) for word in ranked)

    return [best(words) for words in counts]
