"""Matches made by hand for the renderers' tests: real documents, alignments from a simple rule on shared words."""

from pathlib import Path

import numpy as np

from longmatch.documents import Document, Draft, Section, Span, read
from longmatch.documents.language import words_of
from longmatch.matching.match import Alignment, Grid, Match, Passage, Term

LABELS = {"words": "shared words", "phrases": "shared phrases"}
COLLECTION = Path(__file__).parents[2] / "examples" / "collection"


def example_pair() -> Match:
    """Two documents of the example collection that belong together."""
    return matched(read(COLLECTION / "pear-block-season-trial.md"), read(COLLECTION / "when-to-water-fruit-trees.html"))


def made(title: str, sections: dict[str, list[str]], id: str = "made") -> Document:
    """A document from headings and paragraphs."""
    draft = Draft()
    for heading, paragraphs in sections.items():
        draft.heading(heading)
        for paragraph in paragraphs:
            draft.paragraph(paragraph)
    return draft.document(id, title)


def long_document(words: int, sections: int, id: str = "long") -> Document:
    """A document of so many words, no two sentences alike."""
    each = max(1, words // sections)
    bodies = {}
    for number in range(sections):
        sentences = [
            f"Number {number} of these {at} lines says what the rest {at * 7} of it left out."
            for at in range(each // 14)
        ]
        bodies[f"Section {number} on a subject of its own"] = [
            " ".join(sentences[i : i + 7]) for i in range(0, len(sentences), 7)
        ]
    return made(f"A long document, {id}", bodies, id)


def matched(a: Document, b: Document, score: float = 0.42, most: int = 3000) -> Match:
    """Align each sentence of a with the sentence of b that shares most of its longer words."""
    pairs = _pairs(a, b)[:most]
    total = sum(weight for *_, weight in pairs) or 1.0
    alignments = tuple(
        Alignment(
            _passage(a, left),
            _passage(b, right),
            min(0.95, 0.2 + weight / 8),
            weight / total,
            weight / total * (0.8 if at % 2 else 0.2),
            words,
        )
        for at, (left, right, words, weight) in enumerate(pairs)
    )
    terms = tuple(Term(word, 0.3 / (1 + at)) for at, word in enumerate(_common(a, b)[:16]))
    parts = {"words": 0.31, "phrases": 0.12, "meaning": 0.57}
    grid = _grid(a, b, alignments)
    return Match(
        a, b, score, grid, alignments, "by hand", 0.314, parts=parts, labels=LABELS, terms=terms, measured=True
    )


def _pairs(a: Document, b: Document) -> list[tuple[Span, Span, tuple[str, ...], float]]:
    right = [(s, {w for w in words_of(s.of(b.readable)) if len(w) > 4 or ord(w[0]) > 0x2FF}) for s in b.sentences]
    homes: dict[str, list[int]] = {}
    for at, (_, words) in enumerate(right):
        for word in words:
            homes.setdefault(word, []).append(at)
    pairs = []
    for left in a.sentences:
        votes: dict[int, set[str]] = {}
        for word in set(words_of(left.of(a.readable))):
            for at in homes.get(word, [])[:50]:
                if a is not b or right[at][0].start != left.start:
                    votes.setdefault(at, set()).add(word)
        if votes:
            best = max(votes, key=lambda at: (len(votes[at]), -at))
            shared = tuple(sorted(votes[best], key=lambda word: (-len(word), word))[:6])
            pairs.append((left, right[best][0], shared, float(len(votes[best]) ** 2)))
    return sorted(pairs, key=lambda pair: -pair[3])


def _common(a: Document, b: Document) -> list[str]:
    shared = set(words_of(a.readable)) & set(words_of(b.readable))
    return sorted((w for w in shared if len(w) > 5), key=lambda word: (-len(word), word))


def _passage(document: Document, span: Span) -> Passage:
    home = next(s for s in reversed(document.sections) if s.start <= span.start)
    return Passage(span.of(document.text), span.start, span.end, home.heading)


def _grid(a: Document, b: Document, alignments: tuple[Alignment, ...]) -> Grid:
    rows, columns = a.sections, b.sections
    scores = np.zeros((len(rows), len(columns)), dtype=np.float32)
    row_starts, column_starts = [s.start for s in rows], [s.start for s in columns]
    for x in alignments:
        i = int(np.searchsorted(row_starts, x.a.start, "right")) - 1
        j = int(np.searchsorted(column_starts, x.b.start, "right")) - 1
        scores[i, j] += x.contribution
    if scores.max(initial=0.0) > 0:
        scores = scores / scores.max() * 0.66
    if a is b:
        np.fill_diagonal(scores, 1.0)
    return Grid(
        tuple(s.heading for s in rows),
        tuple(s.heading for s in columns),
        tuple(_body(s) for s in rows),
        tuple(_body(s) for s in columns),
        scores,
    )


def _body(section: Section) -> Span:
    """A section's span as models give it: from its first paragraph, without the heading."""
    return Span(section.paragraphs[0].start if section.paragraphs else section.start, section.end)
