"""Sentence vectors of many documents, in token-budget batches that run across them."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from longmatch.documents.document import Document
from longmatch.encoders.backbone import Backbone, TokenProgress, Vectors
from longmatch.matching.align import Floats, Ints
from longmatch.matching.matcher import Progress
from longmatch.matching.sentences import Sentences
from longmatch.ragged import AnyArray
from longmatch.units import Tokens, sentences, tokenize

TOKENS = 1_000_000  # encoded together
TITLE = 400  # characters of a title that are read


def sentence_vectors(
    documents: Sequence[Document], backbone: Backbone, progress: Progress | None = None
) -> Iterator[tuple[Sentences, Vectors]]:
    """Each document's sentences and their vectors (sentences, width), in the order given."""
    return vectors_of_tokens((tokenize(document, backbone.tokenizer) for document in documents), backbone, progress)


def vectors_of_tokens(
    documents: Iterable[Tokens],
    backbone: Backbone,
    progress: Progress | None = None,
    on_tokens: TokenProgress | None = None,
) -> Iterator[tuple[Sentences, Vectors]]:
    """The same of documents that are tokenised already; `on_tokens` is called with the tokens of each small batch."""
    for batch in _by_size(documents):
        cut = [sentences(tokens, backbone.max_tokens) for tokens in batch]
        done = _DocumentProgress([int(pieces.lengths.sum()) for pieces in cut], progress, on_tokens)
        flat = [pieces.ids(i) for pieces in cut for i in range(len(pieces))]
        vectors = backbone.encode(flat, done.tokens)
        for pieces, mine in zip(cut, np.split(vectors, np.cumsum([len(pieces) for pieces in cut])[:-1]), strict=True):
            yield Sentences.of(pieces), mine.copy()
        done.finish()


def title_vectors(titles: Sequence[str], backbone: Backbone, most: int | None = TITLE) -> Vectors:
    """One vector a title, as far as the backbone reads at once, at `most` so many characters: (titles, width).

    Those of empty titles are zeros.
    """
    found = backbone.tokenizer.encode_batch([title[:most] for title in titles], add_special_tokens=False)
    pieces = [np.array(e.ids[: backbone.max_tokens], dtype=np.int64) for e in found]
    said = [number for number, piece in enumerate(pieces) if len(piece)]
    vectors = np.zeros((len(titles), backbone.width), dtype=np.float32)
    vectors[said] = backbone.encode([pieces[number] for number in said])
    return vectors


def pair_cosines(a: AnyArray, b: AnyArray, i: Ints, j: Ints) -> Floats:
    """The cosine of row i of one document with row j of another, pair by pair, at least 0."""
    return np.asarray((np.asarray(a)[i] * np.asarray(b)[j]).sum(1).clip(0, 1), dtype=np.float64)


def _by_size(documents: Iterable[Tokens]) -> Iterator[list[Tokens]]:
    batch: list[Tokens] = []
    size = 0
    for document in documents:
        if batch and size + len(document) > TOKENS:
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document)
    if batch:
        yield batch


class _DocumentProgress:
    """Turns tokens encoded into documents done, as batches mix the documents."""

    def __init__(self, tokens: list[int], report: Progress | None, on_tokens: TokenProgress | None) -> None:
        self.total, self.count, self.report, self.on_tokens = max(1, sum(tokens)), len(tokens), report, on_tokens
        self.seen = self.reported = 0

    def tokens(self, count: int) -> None:
        self.seen += count
        if self.on_tokens:
            self.on_tokens(count)
        self._report(self.count * self.seen // self.total)

    def finish(self) -> None:
        self._report(self.count)

    def _report(self, documents: int) -> None:
        if self.report and documents > self.reported:
            self.report(documents - self.reported)
            self.reported = documents
