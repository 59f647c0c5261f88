"""SDR section 3.2: which sentences training sees together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from longmatch.lab.store.tokens import TokenCollection
from longmatch.units.cut import cut_range
from longmatch.units.tokens import Ints, Tokens

LEAST = 3  # tokens: "Yes." and "1." teach nothing of their paragraph
INTRA = 0.5  # share of the pairs that are of one paragraph


@dataclass(frozen=True)
class DrawnPairs:
    """Pairs of sentences by their numbers in the pool, and whether each is of one paragraph."""

    p: Ints
    q: Ints
    alike: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SentencePool:
    """The sentences of some documents of a shelf, in order, without those of fewer than LEAST tokens.

    A sentence longer than the model reads at once is cut as it is for scoring, and each piece counts as one.
    """

    shelf: TokenCollection
    document: Ints  # (sentences,) the document each is of
    first: Ints  # (sentences,) its tokens in the document
    last: Ints
    paragraph: Ints  # (paragraphs + 1,) where each paragraph's sentences begin, and the end
    home: Ints  # (documents + 1,) where each document's begin, and the end

    @staticmethod
    def of(shelf: TokenCollection, documents: Ints, limit: int, max_tokens: int | None = None) -> "SentencePool":
        """The sentences of these documents, of each the first `max_tokens` tokens; cut to `limit` tokens."""
        found = [_sentences(shelf[number], limit, max_tokens) for number in documents.tolist()]
        table = np.concatenate([np.zeros((0, 3), dtype=np.int64), *found])  # first, last, paragraph
        home = _offsets([len(rows) for rows in found])
        document = np.repeat(documents, np.diff(home))
        changes = (np.diff(table[:, 2]) != 0) | (np.diff(document) != 0)
        paragraph = np.concatenate([[0], np.flatnonzero(changes) + 1, [len(table)]])
        return SentencePool(shelf, document, table[:, 0], table[:, 1], np.unique(paragraph), np.unique(home))

    def __len__(self) -> int:
        return len(self.document)

    @cached_property
    def anchors(self) -> Ints:
        """The sentences that have company in their paragraph: any of them can be the first of either kind of pair."""
        sizes = np.diff(self.paragraph)
        return np.flatnonzero(np.repeat(sizes > 1, sizes))

    @property
    def teaches(self) -> bool:
        """Whether there are pairs of both kinds."""
        return len(self.home) > 2 and len(self.anchors) > 0

    def draw(self, anchors: Ints, random: np.random.Generator) -> DrawnPairs:
        """A second sentence for each anchor: with even chances another of its paragraph, or one of another document."""
        alike = random.random(len(anchors)) < INTRA
        near = _another(anchors, self.paragraph, random)
        start, end = _run(anchors, self.home)
        elsewhere = (end + random.integers(len(self) - (end - start))) % len(self)
        return DrawnPairs(anchors, np.where(alike, near, elsewhere), alike)

    def word_counts(self, vocabulary: int) -> Ints:
        """How often each token occurs in the pool's documents: (vocabulary,)."""
        counts = np.zeros(vocabulary, dtype=np.int64)
        for number in np.unique(self.document).tolist():
            counts += np.bincount(self.shelf[number].ids, minlength=vocabulary)
        return counts

    def ids(self, sentence: int) -> Ints:
        """The token ids of one sentence."""
        return self.shelf.piece(int(self.document[sentence]), int(self.first[sentence]), int(self.last[sentence]))


def _sentences(tokens: Tokens, limit: int, max_tokens: int | None) -> Ints:
    """First and last token and paragraph of each sentence that training may draw: (sentences, 3)."""
    first, last = tokens.sentence_offsets[:-1], tokens.sentence_offsets[1:]
    paragraph = tokens.sentence_paragraph
    if len(first) and (last - first).max() > limit:
        cuts = [cut_range(tokens, a, b, limit) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        paragraph = np.repeat(paragraph, [len(ends) for ends in cuts])
        last = np.concatenate(cuts)
        first = np.concatenate([[0], last[:-1]])
    kept = last - first >= LEAST
    if max_tokens is not None:
        kept &= last <= max_tokens
    return np.stack([first, last, paragraph], axis=1)[kept].astype(np.int64)


def _another(rows: Ints, offsets: Ints, random: np.random.Generator) -> Ints:
    """Another row of the same run, each as likely; of a run of one, itself."""
    start, end = _run(rows, offsets)
    size = end - start
    found: Ints = start + (rows - start + 1 + random.integers(np.maximum(size - 1, 1))) % size
    return found


def _run(rows: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """Where each row's run begins and ends."""
    place = np.searchsorted(offsets, rows, side="right")
    return offsets[place - 1], offsets[place]


def _offsets(counts: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(np.array(counts, dtype=np.int64))]).astype(np.int64)
