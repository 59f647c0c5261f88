"""Training data without labels: the two halves of a document belong together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.lexical.terms import Terms

RUNS = 8  # runs of sentences into which a document of few paragraphs is cut

Ints = npt.NDArray[np.int64]
Tokens = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TokenizedText:
    """A document, or a passage of one: the tokens and terms of each sentence."""

    tokens: Sequence[Ints]
    paragraph: Ints  # of each sentence
    terms: Terms

    def __len__(self) -> int:
        return len(self.tokens)

    def part(self, sentences: Ints) -> "TokenizedText":
        """Some of the sentences."""
        tokens = [self.tokens[sentence] for sentence in sentences]
        return TokenizedText(tokens, self.paragraph[sentences], self.terms.part(sentences))


def halves(paragraph: Ints) -> tuple[Ints, Ints]:
    """The sentences of every other paragraph, and the rest. Few paragraphs are cut into runs of sentences instead.

    >>> [half.tolist() for half in halves(np.array([0, 0, 1, 2, 2, 3]))]
    [[0, 1, 3, 4], [2, 5]]
    """
    _, run = np.unique(paragraph, return_inverse=True)
    if run.max(initial=0) < 3:
        run = np.arange(len(paragraph)) * RUNS // max(1, len(paragraph))
    return np.flatnonzero(run % 2 == 0), np.flatnonzero(run % 2 == 1)


@dataclass(frozen=True)
class Halves:
    """The halves of many documents, end to end: halves 2k and 2k + 1 make up document k."""

    tokens: Tokens  # of all sentences, without special tokens
    sentences: Ints  # where each sentence's tokens begin, and the end
    offsets: Ints  # where each half's sentences begin, and the end

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @staticmethod
    def of(documents: Sequence[TokenizedText]) -> "Halves":
        """Cut each document in two."""
        parts = [document.part(half) for document in documents for half in halves(document.paragraph)]
        sentences = [tokens for part in parts for tokens in part.tokens]
        return Halves(
            np.concatenate(sentences).astype(np.int32),
            _bounds([len(tokens) for tokens in sentences]),
            _bounds([len(part) for part in parts]),
        )

    def sample_sentences(self, chosen: Ints, most: int, rng: np.random.Generator) -> Ints:
        """Draw sentences of each chosen half, in their order; -1 where there are fewer: (chosen, most)."""
        numbers = np.full((len(chosen), most), -1, dtype=np.int64)
        for row, half in enumerate(chosen.tolist()):
            first, last = self.offsets[half : half + 2]
            count = min(most, int(last - first))
            numbers[row, :count] = np.sort(rng.choice(last - first, count, replace=False)) + first
        return numbers

    def sentence(self, number: int) -> Tokens | None:
        """The tokens of a sentence; None for the number -1."""
        return self.tokens[self.sentences[number] : self.sentences[number + 1]] if number >= 0 else None


def _bounds(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


@dataclass(frozen=True)
class BatchShape:
    """The size of a batch."""

    anchors: int  # halves whose other half is looked for
    sentences: int  # of each half
    tokens: int  # of each sentence


@dataclass(frozen=True)
class HalvesBatch:
    """Some halves: first the anchors, then the other halves of those that are not anchors themselves."""

    ids: Tokens  # (halves * sentences, tokens)
    mask: Flags
    present: Flags  # (halves, sentences): short halves have fewer
    answers: Flags  # (anchors, halves): the other half of the document
    listed: Flags  # (anchors, halves): all but the anchor itself


def batches(halves: Halves, shape: BatchShape, specials: tuple[int, int], seed: int) -> Iterator[HalvesBatch]:
    """Draw batches without end. `specials` are the tokens that begin and end a sentence."""
    rng = np.random.default_rng(seed)
    while True:
        rng.random()  # unused: a seed draws what it drew when batches came from several collections
        yield draw(halves, shape, specials, rng)


def draw(halves: Halves, shape: BatchShape, specials: tuple[int, int], rng: np.random.Generator) -> HalvesBatch:
    """Draw one batch."""
    anchors = rng.choice(np.arange(len(halves)), min(shape.anchors, len(halves)), replace=False)
    chosen = np.concatenate([anchors, np.setdiff1d(anchors ^ 1, anchors)])
    numbers = halves.sample_sentences(chosen, shape.sentences, rng)
    ids, mask = pad([halves.sentence(number) for number in numbers.ravel().tolist()], shape.tokens, specials)
    answers = (anchors ^ 1)[:, None] == chosen
    return HalvesBatch(ids, mask, numbers >= 0, answers, anchors[:, None] != chosen)


def pad(rows: Sequence[Tokens | None], most: int, specials: tuple[int, int]) -> tuple[Tokens, Flags]:
    """Tokens between the special ones, cut to `most`: ids and mask. A missing row attends to one padding token."""
    ids = np.zeros((len(rows), most), dtype=np.int32)
    lengths = np.ones(len(rows), dtype=np.int64)
    for row, tokens in enumerate(rows):
        if tokens is not None:
            piece = tokens[: most - 2]
            lengths[row] = len(piece) + 2
            ids[row, 0], ids[row, len(piece) + 1] = specials
            ids[row, 1 : len(piece) + 1] = piece
    width = int(lengths.max(initial=1))
    return ids[:, :width], np.arange(width) < lengths[:, None]
