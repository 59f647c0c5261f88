"""The subtopics of two documents as something to look at (SST figure 8)."""

from collections import Counter
from math import log1p

import numpy as np

from longmatch.documents.document import Document, Sentence
from longmatch.lab.papers.sst.alignment import Clusters
from longmatch.lab.papers.sst.clustering import EXPECTED_SIZE, spectral_clusters
from longmatch.lab.papers.sst.subtopics import Subtopic, Subtopics
from longmatch.lab.words.similarity import Floats, textrank_similarity, to_unit
from longmatch.lab.words.text_words import concatenated, document_words, written_words

WORDS = 5  # named of a subtopic


def subtopics(
    a: Document,
    b: Document,
    clusters: Clusters | None = None,
    similarity: Floats | None = None,
    sentences: int | None = None,
    size: float = EXPECTED_SIZE,
) -> Subtopics:
    """What two documents speak of, together and alone.

    By direct clustering of all sentences (or of the first `sentences` of each) into groups of `size` on average;
    or as a model found them: its `clusters` of the first sentences of both, and how alike it takes these to be
    (`similarity`, a's sentences before b's, between 0 and 1).
    """
    most = (sentences, sentences) if clusters is None else (len(clusters.a), len(clusters.b))
    sides = list(a.sentences)[: most[0]], list(b.sentences)[: most[1]]
    found = textrank_similarity(concatenated(document_words(a, most[0]), document_words(b, most[1])))
    if clusters is None:
        clusters = Clusters.of(spectral_clusters(found, size), len(sides[0]))
    order = _order(clusters)
    words = _telling_words(clusters, _counted(a, sides[0]), _counted(b, sides[1]))
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
    unit = to_unit(found) if similarity is None else np.asarray(similarity, dtype=np.float64)
    return Subtopics(a, b, topics, unit[np.ix_(rows, rows)])


def _order(clusters: Clusters) -> list[int]:
    """Shared clusters by what can be paired off, then those of a alone, then of b alone; large before small."""
    a, b = clusters.sizes
    numbers = np.lexsort((np.arange(clusters.count), -(a + b), -a, -clusters.common))
    return [int(n) for n in numbers if a[n] + b[n]]


def _counted(document: Document, sentences: list[Sentence]) -> list[Counter[tuple[str, str]]]:
    return [Counter(written_words(s.of(document.readable), document.language)) for s in sentences]


def _telling_words(clusters: Clusters, *sides: list[Counter[tuple[str, str]]]) -> list[tuple[str, ...]]:
    """For each cluster its frequent words that are rare in the others, in the form most often written."""
    counts: list[Counter[str]] = [Counter() for _ in range(clusters.count)]
    forms: dict[str, Counter[str]] = {}
    for labels, sentences in zip(clusters.sides, sides, strict=True):
        for topic, found in zip(labels.tolist(), sentences, strict=True):
            for (word, written), times in found.items():
                counts[topic][word] += times
                forms.setdefault(word, Counter())[written] += times
    homes = Counter(word for found in counts for word in found)
    filled = sum(bool(found) for found in counts)

    def best(found: Counter[str]) -> tuple[str, ...]:
        weights = {word: times * log1p(filled / homes[word]) for word, times in found.items() if not word.isdigit()}
        ranked = sorted(weights, key=lambda word: (-weights[word], word))[:WORDS]
        return tuple(min(forms[word], key=lambda form: (-forms[word][form], form)) for word in ranked)

    return [best(found) for found in counts]
