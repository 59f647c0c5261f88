"""The fidelity of explanations: how far the score falls without the sentences that contribute most.

Deletion: from both documents, the tenth of the sentences with the largest contributions, compared with as many at
random. Insertion, the reverse: those sentences alone, compared with as many at random alone. Scores are the model's
own, of documents rebuilt from the remaining sentences.
"""

import json
import random
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from longmatch.documents.document import Document, Paragraph, Section, Sentence
from longmatch.errors import LongmatchWarning
from longmatch.lab.datasets.records import Split
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.scoring.pairs import scorer_of
from longmatch.lab.store.digests import code_digest
from longmatch.matching.match import Match, Passage
from longmatch.matching.matcher import Matcher, PairMatcher, Progress

SHARE = 0.1  # of a document's sentences
DRAWS = 5  # of random sentences


@dataclass(frozen=True)
class Fidelity:
    """One pair: its score, and the score after deleting sentences or keeping them alone."""

    score: float
    named_deleted: float
    random_deleted: float  # mean over the draws
    named_alone: float
    random_alone: float


def fidelity(matcher: Matcher, a: Document, b: Document, seed: int = 0) -> Fidelity:
    """Measure the explanation of one pair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LongmatchWarning)  # the table already says that a model reads only a part
        match = matcher.compare(a, b)
        counts = [sum(1 for _ in document.sentences) for document in (a, b)]
        top = [top_sentences(match, "a"), top_sentences(match, "b")]
        rng, drawn = np.random.default_rng(seed), []
        for _ in range(DRAWS):
            sizes = zip(counts, map(len, top), strict=True)
            drawn.append([set(rng.choice(count, size, replace=False).tolist()) for count, size in sizes])

        def score(chosen: Sequence[set[int]], keep: bool) -> float:
            pair = rebuild(a, chosen[0], keep), rebuild(b, chosen[1], keep)
            if isinstance(matcher, PairMatcher):  # without the explanation, which would be expensive
                return float(matcher.score_pairs([pair])[0])
            return matcher.compare(*pair).score

        random_deleted, random_alone = (
            float(np.mean([score(chosen, keep) for chosen in drawn])) for keep in (False, True)
        )
        return Fidelity(match.score, score(top, False), random_deleted, score(top, True), random_alone)


def top_sentences(match: Match, side: Literal["a", "b"]) -> set[int]:
    """The numbers of the sentences that contribute most: SHARE of them, at least one, never all.

    The contribution of a passage of several sentences is shared among them by length.
    """
    document = match.a if side == "a" else match.b
    sentences = list(document.sentences)
    starts = np.array([s.start for s in sentences])
    ends = np.array([s.end for s in sentences])
    weight = np.zeros(len(sentences))
    for alignment in match.alignments:
        passage: Passage = getattr(alignment, side)
        inside = np.clip(np.minimum(ends, passage.end) - np.maximum(starts, passage.start), 0, None)
        if inside.any():
            weight += alignment.contribution * inside / inside.sum()
    count = min(len(sentences) - 1, max(1, round(SHARE * len(sentences))))
    return set(np.argsort(-weight, kind="stable")[:count].tolist())


def rebuild(document: Document, chosen: set[int], keep: bool) -> Document:
    """The document with only the chosen sentences of its running text, or with all but those.

    Paragraphs without sentences are dropped; headings, tables and references stay.
    """
    numbers = {id(s): n for n, s in enumerate(document.sentences)}
    text: list[str] = []
    length = 0

    def add(piece: str, gap: str) -> int:
        nonlocal length
        text.append(gap + piece if length else piece)
        length += len(text[-1])
        return length - len(piece)

    sections = []
    for section in document.sections:
        start = add(section.heading, "\n\n") if section.heading else length
        paragraphs = []
        for paragraph in section.paragraphs:
            kept = [s for s in paragraph.sentences if id(s) not in numbers or (numbers[id(s)] in chosen) == keep]
            placed: list[Sentence] = []
            for sentence in kept:
                at = add(sentence.of(document.readable), " " if placed else "\n\n")
                placed.append(Sentence(at, length))
            if placed:
                paragraphs.append(
                    Paragraph(placed[0].start, placed[-1].end, tuple(placed), paragraph.kind, paragraph.page)
                )
        sections.append(Section(start, length, section.heading, section.level, tuple(paragraphs)))
    return Document(document.id, document.title, "".join(text), tuple(sections), document.language)


def related_pairs(corpus: Corpus, split: Split, count: int, seed: int) -> list[tuple[str, str]]:
    """Sample `count` related pairs, at most one per query."""
    partners: dict[str, list[str]] = {}
    for row in corpus.folder.judgements(split):
        if row.grade > 0 and row.query != row.document:
            partners.setdefault(row.query, []).append(row.document)
    for pair in [] if partners else corpus.folder.pairs(split):
        if pair.label and pair.source != pair.target:
            partners.setdefault(pair.source, []).append(pair.target)
    draw = random.Random(seed)
    queries = draw.sample(sorted(partners), min(count, len(partners)))
    return [(query, draw.choice(sorted(partners[query]))) for query in queries]


def measure_fidelity(
    path: Path,
    corpus: Corpus,
    matcher: Matcher,
    split: Split,
    count: int,
    seed: int,
    provenance: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure explanations on `count` related pairs and write the result to `path`, unless it is up to date."""
    scorer = scorer_of(matcher)
    facts = {
        "documents": corpus.fingerprint,
        "layers": [layer.key for layer in scorer.layers],
        "model": dict(scorer.facts),
        "count": count,
        "seed": seed,
        "code": code_digest(*scorer.code),
    }
    if path.is_file():
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if result["facts"] == facts:
            return result
    pairs = related_pairs(corpus, split, count, seed)
    documents = corpus.documents(id for pair in pairs for id in pair)
    measured: list[Fidelity] = []
    for index, (a, b) in enumerate(pairs):
        if all(d in documents and sum(1 for _ in documents[d].sentences) > 1 for d in (a, b)):
            measured.append(fidelity(matcher, documents[a], documents[b], seed + index))
        if progress:
            progress(1)
    result = summary(measured) | {"facts": facts, "made": dict(provenance or {})}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result), encoding="utf-8")
    return result


def summary(measured: Sequence[Fidelity]) -> dict[str, Any]:
    """Means over pairs; `ratio` is the loss by deleting the top sentences over that by deleting random ones."""

    def mean(values: list[float]) -> float:
        return float(np.mean(values)) if values else 0.0

    named = mean([f.score - f.named_deleted for f in measured])
    chance = mean([f.score - f.random_deleted for f in measured])
    return {
        "pairs": len(measured),
        "share": SHARE,
        "score": mean([f.score for f in measured]),
        "deletion": {"named": named, "random": chance, "ratio": named / chance if chance > 0 else None},
        "insertion": {
            "named": mean([f.named_alone for f in measured]),
            "random": mean([f.random_alone for f in measured]),
        },
    }
