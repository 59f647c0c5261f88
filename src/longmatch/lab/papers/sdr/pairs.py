"""SDR section 3.2: inter- and intra-document sampling of sentence pairs.

A unit is a paragraph or a section, as the settings say.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longmatch.lab.store.tokens import TokenCollection
from longmatch.models.sdr.score import Unit
from longmatch.ragged import offsets_of
from longmatch.units.chunking import piece_ends
from longmatch.units.tokens import Ints, Tokens

MIN_TOKENS = 3  # "Yes." and "1." say nothing about their unit
INTRA_SHARE = 0.5  # of the pairs come from one unit


@dataclass(frozen=True)
class DrawnPairs:
    """Pairs of sentences, by their numbers in the pool."""

    p: Ints
    q: Ints
    intra: npt.NDArray[np.bool_]  # true for a pair from one unit


@dataclass(frozen=True)
class SentencePool:
    """The sentences of some documents, in order, except those of fewer than MIN_TOKENS tokens.

    A sentence longer than the model's limit is split as it is for scoring, and each piece counts as a sentence.
    """

    tokens: TokenCollection
    document: Ints  # (sentences,) the document of each
    first: Ints  # (sentences,) its tokens in the document are first:last
    last: Ints
    unit_offsets: Ints  # (units + 1,) the first sentence of each unit, and the end
    document_offsets: Ints  # (documents + 1,) the first sentence of each document, and the end

    @staticmethod
    def of(
        tokens: TokenCollection,
        documents: Ints,
        limit: int,
        max_tokens: int | None = None,
        unit: Unit = "paragraph",
    ) -> "SentencePool":
        """The sentences within the first `max_tokens` tokens of these documents, split to at most `limit` tokens."""
        tables = [_sentences(tokens[number], limit, max_tokens, unit) for number in documents.tolist()]
        table = np.concatenate([np.zeros((0, 3), dtype=np.int64), *tables])  # first, last, unit
        document_offsets = offsets_of(np.array([len(rows) for rows in tables], dtype=np.int64))
        document = np.repeat(documents, np.diff(document_offsets))
        changes = (np.diff(table[:, 2]) != 0) | (np.diff(document) != 0)
        unit_offsets = np.concatenate([[0], np.flatnonzero(changes) + 1, [len(table)]])
        return SentencePool(
            tokens, document, table[:, 0], table[:, 1], np.unique(unit_offsets), np.unique(document_offsets)
        )

    def __len__(self) -> int:
        return len(self.document)

    @cached_property
    def anchors(self) -> Ints:
        """Sentences that are not alone in their unit: each can be the first of a pair of either kind."""
        sizes = np.diff(self.unit_offsets)
        return np.flatnonzero(np.repeat(sizes > 1, sizes))

    @property
    def has_pairs(self) -> bool:
        """Whether pairs of both kinds can be drawn."""
        return len(self.document_offsets) > 2 and len(self.anchors) > 0

    def draw(self, anchors: Ints, random: np.random.Generator, intra_share: float = INTRA_SHARE) -> DrawnPairs:
        """A partner for each anchor: another sentence of its unit in a share of the pairs, else of another document."""
        intra = random.random(len(anchors)) < intra_share
        same_unit = _another(anchors, self.unit_offsets, random)
        start, end = _run(anchors, self.document_offsets)
        other_document = (end + random.integers(len(self) - (end - start))) % len(self)
        return DrawnPairs(anchors, np.where(intra, same_unit, other_document), intra)

    def word_counts(self, vocabulary: int) -> Ints:
        """Occurrences of each token in the pool's documents: (vocabulary,)."""
        counts = np.zeros(vocabulary, dtype=np.int64)
        for number in np.unique(self.document).tolist():
            counts += np.bincount(self.tokens[number].ids, minlength=vocabulary)
        return counts

    def ids(self, sentence: int) -> Ints:
        """The token ids of one sentence."""
        return self.tokens.piece(int(self.document[sentence]), int(self.first[sentence]), int(self.last[sentence]))


def _sentences(tokens: Tokens, limit: int, max_tokens: int | None, unit: Unit) -> Ints:
    """First token, last token and unit of each sentence that may be drawn: (sentences, 3)."""
    first, last = tokens.sentence_offsets[:-1], tokens.sentence_offsets[1:]
    units = tokens.sentence_section if unit == "section" else tokens.sentence_paragraph
    if len(first) and (last - first).max() > limit:
        cuts = [piece_ends(tokens, a, b, limit) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        units = np.repeat(units, [len(ends) for ends in cuts])
        last = np.concatenate(cuts)
        first = np.concatenate([[0], last[:-1]])
    kept = last - first >= MIN_TOKENS
    if max_tokens is not None:
        kept &= last <= max_tokens
    return np.stack([first, last, units], axis=1)[kept].astype(np.int64)


def _another(rows: Ints, offsets: Ints, random: np.random.Generator) -> Ints:
    """A different row of the same run, uniformly; in a run of one, the row itself."""
    start, end = _run(rows, offsets)
    size = end - start
    others: Ints = start + (rows - start + 1 + random.integers(np.maximum(size - 1, 1))) % size
    return others


def _run(rows: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """The start and end of each row's run."""
    place = np.searchsorted(offsets, rows, side="right")
    return offsets[place - 1], offsets[place]
