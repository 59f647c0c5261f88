"""SDR as a matcher: ranking without labels, by the hierarchical score of its section 3.3."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmatch.default.meaning import encode_sentences
from longmatch.default.statistics import background_of
from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone, Vectors
from longmatch.encoders.token_vectors import TokenVectors
from longmatch.matching.align import Evidence, alignments, merge
from longmatch.matching.levels import SIZES, SentenceVectors, group_scores
from longmatch.matching.match import Grid, Level, Match
from longmatch.matching.matcher import Encoder, Progress, Scores
from longmatch.matching.sentence_vectors import pair_cosines
from longmatch.matching.sentences import Sentences, run_offsets
from longmatch.models.sdr.score import (
    Paragraphs,
    Unit,
    directional_scores,
    normalisation,
    paragraph_scores,
    sdr_scores,
    symmetric_scores,
    whole_paragraphs,
)
from longmatch.ragged import as_numbers


@dataclass(frozen=True)
class SdrEncoding:
    """A document's sentences with their vectors, grouped by paragraph or section."""

    sentences: Sentences
    paragraphs: Paragraphs


class SdrMatcher(Encoder[SdrEncoding, Paragraphs]):
    """The hierarchical score over any backbone; by default directional and normalised, as in the paper."""

    name = "sdr"

    def __init__(
        self,
        backbone: TokenVectors | Backbone | None = None,
        normalise: bool = True,
        symmetric: bool = False,
        whole_paragraphs: bool = False,
        unit: Unit = "paragraph",
    ) -> None:
        self.backbone, self.unit = backbone or Backbone.load(), unit
        self.normalise, self.symmetric, self.whole_paragraphs = normalise, symmetric, whole_paragraphs

    def encode(self, documents: Sequence[Document], progress: Progress | None = None) -> list[SdrEncoding]:
        """Encode the sentences of each document."""
        return [self.lay_out(*found) for found in encode_sentences(documents, self.backbone, progress)]

    def lay_out(self, sentences: Sentences, vectors: Vectors) -> SdrEncoding:
        """An encoding from sentence vectors made before."""
        if self.whole_paragraphs:
            sentences, vectors = whole_paragraphs(sentences, vectors)
        units = sentences.section if self.unit == "section" else sentences.paragraph
        return SdrEncoding(sentences, Paragraphs.of(vectors, run_offsets(units)))

    def collect(self, encodings: Sequence[SdrEncoding]) -> Paragraphs:
        """Lay encodings out flat."""
        return Paragraphs.join([e.paragraphs for e in encodings])

    def score(self, query: SdrEncoding, collection: Paragraphs) -> Scores:
        """S(query, candidate) for every candidate, normalised over all of them."""
        if self.symmetric:
            scores = symmetric_scores(query.paragraphs, collection, self._background(collection))
        else:
            scores = sdr_scores(query.paragraphs, collection, self.normalise)
        return as_numbers(scores)

    def explain(self, a: SdrEncoding, b: SdrEncoding, collection: Paragraphs | None = None) -> Match:
        """A lone pair: the symmetric score as a share of what the documents have with themselves."""
        background = self._background(Paragraphs.join([a.paragraphs, b.paragraphs]))
        own = sum(float(directional_scores(e.paragraphs, e.paragraphs, background)[0]) for e in (a, b)) / 2
        both = float(symmetric_scores(a.paragraphs, b.paragraphs, background)[0])
        pairs = merge(
            [_gains(a.paragraphs, b.paragraphs, background)], [_gains(b.paragraphs, a.paragraphs, background)]
        )
        return Match(
            a=a.sentences.document,
            b=b.sentences.document,
            score=float(np.clip(both / max(own, 1e-9), 0.0, 1.0)),
            sections=_grid(a, b, "sections"),
            alignments=alignments(
                pairs,
                (a.sentences, b.sentences),
                lambda i, j: pair_cosines(a.paragraphs.vectors, b.paragraphs.vectors, i, j),
            ),
            model=self.name,
            parts={"meaning": 1.0},
            grids=lambda level: _grid(a, b, level),
        )

    def _background(self, others: Paragraphs) -> Paragraphs:
        """The shipped unrelated sentences, each a paragraph of one; for another backbone, the documents themselves."""
        known = background_of(self.backbone)
        if known is None:
            return others
        return Paragraphs.of(known.general, np.arange(len(known.general) + 1))


def plain_matcher(backbone: Backbone | None = None) -> SdrMatcher:
    """SDR without normalisation."""
    return SdrMatcher(backbone, normalise=False)


def section_matcher(backbone: Backbone | None = None) -> SdrMatcher:
    """SDR over sections instead of paragraphs."""
    return SdrMatcher(backbone, unit="section")


def paragraph_matcher(backbone: Backbone | None = None) -> SdrMatcher:
    """SDR on the level of paragraphs only."""
    return SdrMatcher(backbone, whole_paragraphs=True)


def _gains(source: Paragraphs, candidate: Paragraphs, background: Paragraphs) -> Evidence:
    """What each source sentence adds to S: its best cosine in the paragraph that answers its own."""
    mean, deviation = normalisation(paragraph_scores(source, background))
    chosen = paragraph_scores(source, candidate).argmax(0).tolist()
    partner = np.zeros(len(source.vectors), dtype=np.int64)
    mass = np.zeros(len(source.vectors))
    mine, theirs = source.paragraphs.tolist(), candidate.paragraphs.tolist()
    for i, j in enumerate(chosen):
        rows, columns = slice(mine[i], mine[i + 1]), slice(theirs[j], theirs[j + 1])
        cosines = source.vectors[rows] @ candidate.vectors[columns].T
        best = cosines.max(1)
        partner[rows] = cosines.argmax(1) + theirs[j]
        mass[rows] = (best - mean[i]) / deviation[i] / (len(best) * len(chosen))
    return Evidence(partner, mass.clip(min=0))


def _grid(a: SdrEncoding, b: SdrEncoding, level: Level) -> Grid:
    """The mean over sentences of their best cosine, group by group, both directions averaged."""
    mine, theirs = a.sentences.groups(level), b.sentences.groups(level)
    left, right = (
        SentenceVectors(vectors, np.zeros((len(vectors), len(SIZES)), dtype=np.float32))  # not corrected for chance
        for vectors in (a.paragraphs.vectors, b.paragraphs.vectors)
    )
    scores = group_scores(left, right, mine.offsets, theirs.offsets).clip(0, 1)
    return Grid(mine.labels, theirs.labels, mine.spans, theirs.spans, scores)
