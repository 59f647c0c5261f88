"""Explanation of a cross-encoder's score by leaving out sentences.

A sentence's contribution is the drop of the margin between the two classes when the pair is read without it, at least
0. If no sentence has a positive contribution, as in a pair that has nothing in common, contributions are measured from
the lowest one. A contribution is credited to the sentence's pair with the most similar sentence of the other document,
by the cosine of their states (mean over tokens and layers) as the backbone reads both together.

The view that gave the score is explained; with `pool=mean` all views are, and also where views form one vector: each by
itself, in proportion to its weight.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from longmatch.documents.document import Document
from longmatch.errors import LongmatchWarning
from longmatch.lab.baselines.cross.encoder import CrossModel, PairReader, layout_for, match_probabilities, uses_max
from longmatch.lab.baselines.cross.selection import Excerpt, Opening, Pair, Selection, coverage, merge_excerpts
from longmatch.lab.encoders.backbone import Precision, native_precision
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.encoders.ragged import offsets_of, segment_mean
from longmatch.lab.matchers import TokenPairMatcher, open_trained, tokens_of
from longmatch.matching.align import Evidence, Floats, alignments, merge
from longmatch.matching.match import Coverage, Match
from longmatch.matching.matcher import Scores
from longmatch.matching.sentence_vectors import best_cosine_grid, pair_cosines
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import pieces_from

Excerpts = Sequence[tuple[Excerpt, Excerpt]]
CPU_PAIRS, GPU_PAIRS = 16, 128  # per batch


def explain_pair(reader: PairReader, pair: Pair, excerpts: Excerpts, name: str) -> Match:
    """The match of two documents, from one pair of excerpts per view."""
    config, (a, b) = reader.model.config, pair
    rows = reader.layout.rows(pair, excerpts)
    view_margins = reader.margins(rows, reader.model.joined_views)
    probability = float(match_probabilities(view_margins[None], config.pool)[0])
    is_joined = reader.model.joined_views > 1
    decisive = [excerpts[int(view_margins.argmax())]] if uses_max(config.pool) and not is_joined else excerpts
    weights = reader.view_weights(rows).numpy() if is_joined else None
    mine, theirs = merge_excerpts([x for x, _ in decisive]), merge_excerpts([y for _, y in decisive])
    sentences = [Sentences.of(pieces_from(t, e.first, e.last)) for t, e in ((a, mine), (b, theirs))]
    vectors, gains = sentence_vectors(reader, pair, decisive), contributions(reader, pair, decisive, weights)
    cosines = vectors[0] @ vectors[1].T
    forward, backward = (
        Evidence(c.argmax(1).numpy(), gain) for c, gain in zip((cosines, cosines.T), gains, strict=True)
    )
    sides = (sentences[0], vectors[0]), (sentences[1], vectors[1])
    return Match(
        a=a.document,
        b=b.document,
        score=probability,
        sections=best_cosine_grid(*sides, "sections"),
        alignments=alignments(
            merge([forward], [backward]),
            (sentences[0].passage, sentences[1].passage),
            lambda i, j: pair_cosines(*vectors, i, j),
            lambda i, j: (),
        ),
        model=name,
        probability=probability,
        threshold=config.threshold,
        coverage=Coverage(coverage(a, [x for x, _ in excerpts]), coverage(b, [y for _, y in excerpts])),
        parts={"meaning": 1.0},
        grids=lambda level: best_cosine_grid(*sides, level),
    )


def contributions(
    reader: PairReader, pair: Pair, excerpts: Excerpts, weights: Floats | None = None
) -> tuple[Floats, Floats]:
    """The contributions of both documents' sentences to the margin, over all excerpts: (sentences read,) each.

    `weights` are those of the excerpts, equal by default. A sentence contributes nothing to excerpts without it.
    """
    all_margins = reader.margins([row for view in excerpts for row in reader.layout.rows(pair, _variants(*view))])
    sides = [merge_excerpts([view[side] for view in excerpts]).numbers for side in (0, 1)]
    gains = np.zeros(len(sides[0])), np.zeros(len(sides[1]))
    weights = np.full(len(excerpts), 1 / len(excerpts)) if weights is None else weights
    parts = all_margins.split([1 + len(mine) + len(theirs) for mine, theirs in excerpts])
    for view, part, weight in zip(excerpts, parts, weights.tolist(), strict=True):
        drops = np.split((part[0] - part[1:]).numpy() * weight, [len(view[0])])
        for excerpt, numbers, gain, drop in zip(view, sides, gains, drops, strict=True):
            gain[np.searchsorted(numbers, excerpt.numbers)] += drop
    return _non_negative(*gains)


def sentence_vectors(reader: PairReader, pair: Pair, excerpts: Excerpts) -> tuple[Tensor, Tensor]:
    """The mean state of each sentence that is read, of length 1: (sentences read, width) per side."""
    sides = [merge_excerpts([view[side] for view in excerpts]).numbers for side in (0, 1)]
    sums = [torch.zeros(len(numbers), reader.model.width) for numbers in sides]
    for view, row in zip(excerpts, reader.layout.rows(pair, excerpts), strict=True):
        for excerpt, numbers, total, states in zip(view, sides, sums, reader.states(row), strict=True):
            means = segment_mean(states, offsets_of(torch.from_numpy(excerpt.lengths)))
            total[torch.from_numpy(np.searchsorted(numbers, excerpt.numbers))] += means
    return normalize(sums[0], dim=1), normalize(sums[1], dim=1)


def _variants(mine: Excerpt, theirs: Excerpt) -> list[tuple[Excerpt, Excerpt]]:
    """The full excerpts, then without each sentence of the first, then of the second."""
    without_mine = [(mine.without(i), theirs) for i in range(len(mine))]
    return [(mine, theirs), *without_mine, *((mine, theirs.without(i)) for i in range(len(theirs)))]


def _non_negative(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Clip contributions at 0; if none is positive, measure them from the lowest; if all are equal, from none."""
    low, high = (pick(pick(a), pick(b)) for pick in (min, max))
    if high > 0:
        return a.clip(min=0), b.clip(min=0)
    return (a - low, b - low) if low < high else (np.ones(len(a)), np.ones(len(b)))


class CrossMatcher(TokenPairMatcher):
    """The probability that two documents match, from reading the openings of both.

    Subclasses that read other sentences override `selection`.
    """

    name = "cross"
    Model: ClassVar[type[CrossModel]] = CrossModel
    model: CrossModel

    def __init__(self, model: CrossModel, tokenizer: Any, precision: Precision | None = None) -> None:
        self.model, self.tokenizer = model.eval(), tokenizer
        self.device = next(model.parameters()).device
        self.precision: Precision = precision or native_precision(self.device)
        self.layout = layout_for(model, self.selection(), special_tokens(tokenizer, self.name))
        self._warned = False

    @classmethod
    def load(cls, folder: str | Path, device: str | None = None, precision: Precision | None = None) -> Self:
        """Open a model folder written by `longmatch train`."""
        return cls(*open_trained(cls.Model, folder, device, cls.name), precision)

    def selection(self) -> Selection:
        """The selection of sentences to read."""
        return Opening()

    @property
    def networks(self) -> Sequence[nn.Module]:
        """The cross-encoder network."""
        return (self.model,)

    @property
    def threshold(self) -> float | None:
        """The probability from which a pair counts as a match, chosen on validation pairs."""
        threshold: float | None = self.model.config.threshold
        return threshold

    @property
    def pairs_per_batch(self) -> int:
        """The number of pairs read at a time, by device."""
        return CPU_PAIRS if self.device.type == "cpu" else GPU_PAIRS

    def score_tokens(self, pairs: Sequence[Pair], for_ranking: bool = False) -> Scores:
        """The probability of each pair."""
        self.layout.selection.prepare(pairs)
        rows = [row for pair in pairs for row in self.layout.rows(pair, self._excerpts(pair))]
        margins = self._reader.margins(rows, self.model.joined_views).reshape(len(pairs), -1)
        return np.asarray(match_probabilities(margins, self.model.config.pool, for_ranking).numpy(), dtype=np.float64)

    def compare(self, a: Document, b: Document) -> Match:
        """The match of two documents, explained by the sentences that were read."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        return explain_pair(self._reader, pair, self._excerpts(pair), self.name)

    def _excerpts(self, pair: Pair) -> Excerpts:
        """The excerpts of each view; warns once if they do not cover both documents."""
        excerpts = self.layout.excerpts(pair, range(self.model.config.views))
        if not self._warned and any(coverage(pair[side], [view[side] for view in excerpts]) < 1 for side in (0, 1)):
            self._warned = True
            warnings.warn(f"The model {self.name} reads {self._reads}.", LongmatchWarning, stacklevel=3)
        return excerpts

    @property
    def _reads(self) -> str:
        """How much of a long document is read, for the warning."""
        views = int(self.model.config.views)
        return f"no more than {self.layout.limit} tokens of a document" + f" in each of {views} views" * (views > 1)

    @property
    def _reader(self) -> PairReader:
        return PairReader(self.model, self.layout, self.precision)
