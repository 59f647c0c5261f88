"""The cross-encoder's matcher: opens a trained model's folder."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from torch import nn

from longmatch.documents.document import Document
from longmatch.errors import LongmatchWarning
from longmatch.lab.baselines.cross.batch import Pair
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.explanation import Excerpts, explain
from longmatch.lab.baselines.cross.scoring import PairReader, layout_for, match_probabilities
from longmatch.lab.baselines.cross.selection import Opening, Selection, coverage
from longmatch.lab.encoders.backbone import Precision, native_precision
from longmatch.lab.encoders.checkpoint import special_tokens
from longmatch.lab.matchers import TokenPairMatcher, open_trained, tokens_of
from longmatch.matching.match import Match
from longmatch.matching.matcher import Scores

CPU_PAIRS, GPU_PAIRS = 16, 128  # per batch


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
        return explain(self._reader, pair, self._excerpts(pair), self.name)

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
