"""SDR section 3.2: intra- and inter-document sampling of sentence pairs, as they are and with masked words.

A unit is a paragraph or a section, as the settings say. `DocumentHalves` validates without labels: the two halves of a
document should find each other among those of other documents.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from longmatch import ragged
from longmatch.lab.encoders.flat import FlatTokens, groups_within
from longmatch.lab.encoders.ragged import offsets_of, to_device
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.masked_words import IGNORED, mask_pieces
from longmatch.matching.sentences import run_offsets
from longmatch.models.sdr.score import Paragraphs, Unit, sdr_scores, split
from longmatch.units.pieces import piece_ends
from longmatch.units.tokens import Ints

MIN_TOKENS = 3  # "Yes." and "1." say nothing about their unit
INTRA_SHARE = 0.5  # of the pairs come from one unit
SENTENCES = 16  # read of each half


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
        tables = [np.zeros((0, 3), dtype=np.int64)]  # first token, last token and unit of each sentence
        for document in (tokens[number] for number in documents.tolist()):
            first, last = document.sentence_offsets[:-1], document.sentence_offsets[1:]
            units = document.sentence_section if unit == "section" else document.sentence_paragraph
            if len(first) and (last - first).max() > limit:
                cuts = [piece_ends(document, a, b, limit) for a, b in zip(first.tolist(), last.tolist(), strict=True)]
                units, last = np.repeat(units, [len(ends) for ends in cuts]), np.concatenate(cuts)
                first = np.concatenate([[0], last[:-1]])
            kept = (last - first >= MIN_TOKENS) & (max_tokens is None or last <= max_tokens)
            tables.append(np.stack([first, last, units], axis=1)[kept].astype(np.int64))
        table, lengths = np.concatenate(tables), np.array([len(rows) for rows in tables[1:]], dtype=np.int64)
        home = np.repeat(documents, lengths)
        changes = (np.diff(table[:, 2]) != 0) | (np.diff(home) != 0)
        unit_offsets = np.unique(np.concatenate([[0], np.flatnonzero(changes) + 1, [len(table)]]))
        document_offsets = np.unique(ragged.offsets_of(lengths))
        return SentencePool(tokens, home, table[:, 0], table[:, 1], unit_offsets, document_offsets)

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
        start, end = _run(anchors, self.unit_offsets)
        same_unit = start + (anchors - start + 1 + random.integers(np.maximum(end - start - 1, 1))) % (end - start)
        start, end = _run(anchors, self.document_offsets)
        other_document = (end + random.integers(len(self) - (end - start))) % len(self)
        return DrawnPairs(anchors, np.where(intra, same_unit, other_document), intra)

    def ids(self, sentence: int) -> Ints:
        """The token ids of one sentence."""
        return self.tokens.piece(int(self.document[sentence]), int(self.first[sentence]), int(self.last[sentence]))


def _run(rows: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """The start and end of each row's run."""
    place = np.searchsorted(offsets, rows, side="right")
    return offsets[place - 1], offsets[place]


@dataclass(frozen=True)
class SentenceBatch:
    """Pair i is sentences 2i and 2i + 1, of both texts; a text that no loss reads is empty."""

    compared: FlatTokens
    masked: FlatTokens
    labels: Tensor  # (tokens of `masked`,) the original word where it is masked, IGNORED elsewhere
    intra: Tensor  # (pairs,) 1 for a pair from one unit, 0 for one from different documents
    document: Tensor  # (pairs,) of the first sentence
    head_only: bool = False  # the masked words teach the head and leave the backbone as it is

    def __len__(self) -> int:
        return len(self.intra)

    @property
    def tokens(self) -> int:
        """Number of tokens that are read, special ones included."""
        return self.compared.tokens + self.masked.tokens

    @property
    def masked_count(self) -> int:
        """Number of masked words."""
        return int((self.labels != IGNORED).sum())

    def to(self, device: torch.device) -> "SentenceBatch":
        """The batch on another device."""
        labels, intra, document = (to_device(each, device) for each in (self.labels, self.intra, self.document))
        texts = self.compared.to(device), self.masked.to(device)
        return replace(self, compared=texts[0], masked=texts[1], labels=labels, intra=intra, document=document)

    def masked_groups(self, budget: int) -> Iterator[tuple[FlatTokens, Tensor]]:
        """Masked sentences of at most `budget` tokens together, and their labels; a longer one is its own group."""
        starts = offsets_of(self.masked.lengths).tolist()
        for first, last in groups_within(self.masked.lengths, budget):
            yield self.masked.between(first, last), self.labels[starts[first] : starts[last]]


@dataclass(frozen=True)
class PairLayout:
    """How sentence pairs become a batch: which texts the losses read, special tokens around each sentence."""

    mask_token: int
    vocabulary: int  # size
    specials: tuple[int, int]
    masked_share: float = 0.15  # of the words; 0: no masked text
    compares: bool = True  # whether a loss compares sentences
    masked_pairs: bool = False  # it compares the masked ones

    def lay_out(self, pool: SentencePool, pairs: DrawnPairs, random: np.random.Generator) -> SentenceBatch:
        """The sentences of the pairs."""
        order = np.stack([pairs.p, pairs.q], axis=1).flatten()
        text = FlatTokens.of([pool.ids(sentence) for sentence in order.tolist()], self.specials)
        nothing = text.between(0, 0)
        masked, labels = nothing, nothing.ids
        if self.masked_share:
            masked, labels = mask_pieces(text, self.mask_token, self.vocabulary, self.masked_share, random)
        compared = masked if self.masked_pairs else text
        intra, document = torch.from_numpy(pairs.intra.astype(np.int64)), torch.from_numpy(pool.document[pairs.p])
        return SentenceBatch(compared if self.compares else nothing, masked, labels, intra, document)


@dataclass(frozen=True)
class DocumentHalves:
    """The openings of both halves of some documents, as SDR scores them."""

    text: FlatTokens  # the sentences of every first half, then those of every second half
    units: tuple[Tensor, Tensor]  # of the first and of the second halves: offsets of units into their sentences
    documents: tuple[Tensor, Tensor]  # offsets of documents into the units
    queries: Tensor  # the documents whose halves are looked for

    @staticmethod
    def of(pool: SentencePool, queries: Ints, specials: tuple[int, int]) -> "DocumentHalves":
        """The halves of the pool's documents of two sentences or more; `queries` are numbers of documents."""
        runs = [(a, b) for a, b in pairwise(pool.document_offsets.tolist()) if b - a > 1]
        middles = [(a + b) // 2 for a, b in runs]
        firsts, lasts = [a for a, _ in runs], [b for _, b in runs]
        unit = np.searchsorted(pool.unit_offsets, np.arange(len(pool)), side="right")
        rows: list[int] = []
        counts, units = [], []
        for starts, ends in ((firsts, middles), (middles, lasts)):
            side = [np.arange(a, min(a + SENTENCES, b)) for a, b in zip(starts, ends, strict=True)]
            rows += np.concatenate(side).tolist()
            counts.append(offsets_of(torch.tensor([len(np.unique(unit[half])) for half in side])))
            units.append(torch.from_numpy(run_offsets(unit[np.concatenate(side)])))
        text = FlatTokens.of([pool.ids(row) for row in rows], specials)
        asked = torch.from_numpy(np.flatnonzero(np.isin(pool.document[firsts], queries)))
        return DocumentHalves(text, (units[0], units[1]), (counts[0], counts[1]), asked)

    def mean_reciprocal_rank(self, vectors: Tensor) -> float:
        """Of each query's other half, in both directions, from the vectors of all sentences (sentences, width).

        In float32 whatever the precision around it, because half precision ties close scores.
        """
        with torch.autocast(vectors.device.type, enabled=False):
            vectors = nn.functional.normalize(vectors.float(), dim=1)
            parts = vectors.split([int(units[-1]) for units in self.units])
            sides = [
                Paragraphs(part, to_device(units, part.device), to_device(documents, part.device))
                for part, units, documents in zip(parts, self.units, self.documents, strict=True)
            ]
            ranks = []
            for mine, theirs in (sides, sides[::-1]):
                sources = list(split(mine))
                for number in self.queries.tolist():
                    scores = sdr_scores(sources[number], theirs)
                    ranks.append((scores >= scores[number]).sum())
            return float((1 / torch.stack(ranks).double()).mean())
