"""Scorers: the scores of documents with the whole collection, from stored layers, or in memory."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from longmatch.documents.document import Document
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.provenance import code_of
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.layer import Layer
from longmatch.matching.matcher import Encoder, Matcher
from longmatch.matching.sentences import Sentences

BLOCK = 64  # queries scored per pass over the slices


class Scorer(ABC):
    """A model on a corpus. Documents it cannot handle score minus infinity."""

    block: ClassVar[int] = BLOCK
    layers: Sequence[Layer] = ()  # the stored layers it needs
    facts: Mapping[str, Any] = {}  # everything the scores depend on besides the documents and the layers
    encoding_seconds: float | None = None  # of all documents; None if the layers record it

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.unhandled: dict[int, str] = {}

    @property
    def code(self) -> Sequence[str]:
        """The files and folders of the package that the scores depend on, besides those the layers name."""
        return code_of(self.matcher)

    @abstractmethod
    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Prepare for scoring; `stored` are the `layers`, in order."""

    @abstractmethod
    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """The scores of a few documents with all documents of the corpus: (documents,) each."""

    def scores(self, numbers: Sequence[int]) -> Iterator[tuple[int, Floats | None]]:
        """The number and the scores of each document given; None for one that cannot be handled."""
        yield from ((number, None) for number in numbers if number in self.unhandled)
        handled = [number for number in numbers if number not in self.unhandled]
        unhandled = np.fromiter(self.unhandled, np.int64, len(self.unhandled))
        for start in range(0, len(handled), self.block):
            block = handled[start : start + self.block]
            for number, scores in zip(block, self.score_block(block), strict=True):
                scores[unhandled] = -np.inf
                yield number, scores


def no_sentences(title: str = "", count: int = 0) -> Sentences:
    """Placeholder for `count` sentences where only scores are needed, not passages."""
    nowhere = np.zeros(count, dtype=np.int64)
    return Sentences(Document("", title, "", ()), nowhere, nowhere, nowhere, nowhere, nowhere)


class InMemoryScorer(Scorer):
    """For models without a stored layer: nothing is stored."""

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Encode every document separately, so that a failure affects no other."""
        documents, encoder = corpus.documents(corpus.ids), self.matcher
        self._encodings: dict[int, Any] = {}
        started = time.perf_counter()
        for number, id in enumerate(corpus.ids):
            if id not in documents:
                self.unhandled[number] = "it cannot be read"
            elif not any(True for _ in documents[id].sentences):
                self.unhandled[number] = "it has no sentence"
            else:
                try:
                    one = documents[id]
                    self._encodings[number] = encoder.encode([one])[0] if isinstance(encoder, Encoder) else one
                except Exception as error:  # whatever a model raises is reported for the document
                    self.unhandled[number] = f"{type(error).__name__}: {error}"
        self.encoding_seconds = time.perf_counter() - started
        self._count, self._handled = len(corpus), sorted(self._encodings)
        if isinstance(encoder, Encoder) and self._handled:
            self._collection = encoder.collect([self._encodings[n] for n in self._handled])

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One query at a time."""
        block = []
        for number in numbers:
            query, scores = self._encodings[number], np.full(self._count, -np.inf)
            if isinstance(self.matcher, Encoder):
                scores[self._handled] = self.matcher.score(query, self._collection)
            else:
                scores[self._handled] = [self.matcher.compare(query, self._encodings[n]).score for n in self._handled]
            block.append(scores)
        return block
