"""The cross-encoder's matcher, and the explanation of its score by leaving out sentences.

A sentence's contribution is the drop of the margin between the two classes when the pair is read without it, at least
0. If no sentence has a positive contribution, as in a pair that has nothing in common, contributions are measured from
the lowest one. A contribution is credited to the sentence's pair with the most similar sentence of the other document,
by the cosine of their states (mean over tokens and layers) as the backbone reads both together.

The view that gave the score is explained; with `pool=mean` all views are, and also where views form one vector: each by
itself, in proportion to its weight.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from longmatch.documents.document import Document
from longmatch.lab.baselines.cross.encoder import CrossModel, margins, match_probabilities, read, uses_max
from longmatch.lab.baselines.cross.selection import CrossBatch, Excerpt, Pair, coverage, merge_excerpts
from longmatch.lab.encoders.backbone import Precision
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.encoders.ragged import offsets_of, segment_mean
from longmatch.lab.explanation import best_cosine_grid, explained_match, nearest_evidence
from longmatch.lab.matchers import TokenPairMatcher, tokens_of
from longmatch.matching.align import Floats
from longmatch.matching.match import Coverage, Match
from longmatch.matching.matcher import Scores
from longmatch.matching.sentences import Sentences
from longmatch.units.pieces import pieces_from
from longmatch.units.tokens import Ints

CPU_PAIRS, GPU_PAIRS = 16, 128  # per batch
Excerpts = Sequence[tuple[Excerpt, Excerpt]]
Row = tuple[Ints, Ints]  # the token ids of both sides


class CrossMatcher(TokenPairMatcher):
    """The probability that two documents match, from reading the sentences of both that the model selects."""

    name = "cross"
    Model: ClassVar[type[CrossModel]] = CrossModel
    model: CrossModel

    def __init__(self, model: CrossModel, tokenizer: Any, precision: Precision | None = None) -> None:
        super().__init__(model, tokenizer, precision)
        self.layout = model.layout(model.selection(tokenizer), special_tokens(tokenizer, self.name))

    @property
    def pairs_per_batch(self) -> int:
        """The number of pairs read at a time, by device."""
        return CPU_PAIRS if self.device.type == "cpu" else GPU_PAIRS

    @property
    def reads(self) -> str:
        """How much of a long document is read."""
        views = int(self.model.config.views)
        return f"no more than {self.layout.limit} tokens of a document" + f" in each of {views} views" * (views > 1)

    def score_tokens(self, pairs: Sequence[Pair], for_ranking: bool = False) -> Scores:
        """The probability of each pair."""
        self.layout.selection.prepare(pairs)
        rows = [row for pair in pairs for row in self.layout.rows(pair, self._excerpts(pair))]
        view_margins = self.margins(rows, self.model.joined_views).reshape(len(pairs), -1)
        scores = match_probabilities(view_margins, self.model.config.pool, for_ranking)
        return np.asarray(scores.numpy(), dtype=np.float64)

    def compare(self, a: Document, b: Document) -> Match:
        """The match of two documents, explained by the sentences that were read."""
        pair = tokens_of(a, self.tokenizer), tokens_of(b, self.tokenizer)
        excerpts, config, is_joined = self._excerpts(pair), self.model.config, self.model.joined_views > 1
        rows = self.layout.rows(pair, excerpts)
        view_margins = self.margins(rows, self.model.joined_views)
        probability = float(match_probabilities(view_margins[None], config.pool)[0])
        decisive = [excerpts[int(view_margins.argmax())]] if uses_max(config.pool) and not is_joined else excerpts
        weights = self.view_weights(rows).numpy() if is_joined else np.full(len(decisive), 1 / len(decisive))
        read = [merge_excerpts([view[side] for view in decisive]) for side in (0, 1)]
        x, y = (Sentences.of(pieces_from(t, e.first, e.last)) for t, e in zip(pair, read, strict=True))
        vectors = sentence_vectors(self, pair, decisive)
        return explained_match(
            (x, y),
            vectors,
            nearest_evidence(vectors, contributions(self, pair, decisive, weights)),
            lambda level: best_cosine_grid((x, vectors[0]), (y, vectors[1]), level),
            score=probability,
            model=self.name,
            probability=probability,
            threshold=config.threshold,
            coverage=Coverage(*(coverage(t, [view[side] for view in excerpts]) for side, t in enumerate(pair))),
        )

    def margins(self, rows: Sequence[Row], joined_views: int = 1) -> Tensor:
        """The margins of rows of token ids: (rows,), on the CPU; of pairs if `joined_views` rows form one."""
        with self._autocast():
            return margins(self.model, CrossBatch.of(rows, self.layout.specials, joined_views))

    @torch.no_grad()
    def view_weights(self, rows: Sequence[Row]) -> Tensor:
        """The weights of rows that are the views of one pair: (rows,), on the CPU; they sum to 1."""
        with self._autocast():
            views = read(self.model, CrossBatch.of(rows, self.layout.specials).to(self.device)).vectors
            return self.model.view_weights(views[None])[0].mean(1).double().cpu()

    @torch.no_grad()
    def states(self, row: Row) -> tuple[Tensor, Tensor]:
        """The state of each token of either side, without special tokens: (tokens, width), on the CPU."""
        batch = CrossBatch.of([row], self.layout.specials)
        ids = batch.text.ids[None].to(self.device)
        mask = torch.ones_like(ids, dtype=torch.bool)
        with self._autocast():
            states = self.model.states(ids, mask, batch.types(torch.tensor([0]), mask))[0].float().cpu()
        return states[1 : len(row[0]) + 1], states[len(row[0]) + 2 : -1]

    def _excerpts(self, pair: Pair) -> Excerpts:
        """The excerpts of each view; warns once if they do not cover both documents."""
        excerpts = self.layout.excerpts(pair, range(self.model.config.views))
        if not self._warned and any(coverage(pair[side], [view[side] for view in excerpts]) < 1 for side in (0, 1)):
            self._warn_of_truncation()
        return excerpts


def contributions(matcher: CrossMatcher, pair: Pair, excerpts: Excerpts, weights: Floats) -> tuple[Floats, Floats]:
    """The contributions of both documents' sentences to the margin, over all excerpts: (sentences read,) each.

    `weights` are those of the excerpts. A sentence contributes nothing to excerpts without it.
    """
    rows: list[Row] = []
    for mine, theirs in excerpts:  # in full, then without each sentence of the first, then of the second
        without_mine = [(mine.without(i), theirs) for i in range(len(mine))]
        without_theirs = [(mine, theirs.without(i)) for i in range(len(theirs))]
        rows += matcher.layout.rows(pair, [(mine, theirs), *without_mine, *without_theirs])
    all_margins = matcher.margins(rows)
    sides = [merge_excerpts([view[side] for view in excerpts]).numbers for side in (0, 1)]
    a, b = np.zeros(len(sides[0])), np.zeros(len(sides[1]))
    parts = all_margins.split([1 + len(mine) + len(theirs) for mine, theirs in excerpts])
    for view, part, weight in zip(excerpts, parts, weights.tolist(), strict=True):
        drops = np.split((part[0] - part[1:]).numpy() * weight, [len(view[0])])
        for excerpt, numbers, gain, drop in zip(view, sides, (a, b), drops, strict=True):
            gain[np.searchsorted(numbers, excerpt.numbers)] += drop
    low, high = (pick(pick(a), pick(b)) for pick in (min, max))
    if high > 0:
        return a.clip(min=0), b.clip(min=0)
    return (a - low, b - low) if low < high else (np.ones(len(a)), np.ones(len(b)))  # all equal: each counts the same


def sentence_vectors(matcher: CrossMatcher, pair: Pair, excerpts: Excerpts) -> tuple[Tensor, Tensor]:
    """The mean state of each sentence that is read, of length 1: (sentences read, width) per side."""
    sides = [merge_excerpts([view[side] for view in excerpts]).numbers for side in (0, 1)]
    sums = [torch.zeros(len(numbers), matcher.model.width) for numbers in sides]
    for view, row in zip(excerpts, matcher.layout.rows(pair, excerpts), strict=True):
        for excerpt, numbers, total, states in zip(view, sides, sums, matcher.states(row), strict=True):
            means = segment_mean(states, offsets_of(torch.from_numpy(excerpt.lengths)))
            total[torch.from_numpy(np.searchsorted(numbers, excerpt.numbers))] += means
    return normalize(sums[0], dim=1), normalize(sums[1], dim=1)
