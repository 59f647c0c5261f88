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

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.unhandled: dict[int, str] = {}

    @property
    def layers(self) -> Sequence[Layer]:
        """The stored layers it needs."""
        return ()

    @property
    def facts(self) -> Mapping[str, Any]:
        """Everything the scores depend on besides the documents and the layers."""
        return {}

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

    @property
    def encoding_seconds(self) -> float | None:
        """Encoding time of all documents; None if the layers record it."""
        return None

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
        self._documents = corpus.documents(corpus.ids)
        self._ids = corpus.ids
        self._encodings: dict[int, Any] = {}
        self.unhandled = {n: "it cannot be read" for n, id in enumerate(corpus.ids) if id not in self._documents}
        started = time.perf_counter()
        for number, id in enumerate(corpus.ids):
            if id in self._documents:
                self._encode(number, self._documents[id])
        self._seconds = time.perf_counter() - started
        encoder = self.matcher
        self._handled = np.array(sorted(self._encodings), dtype=np.int64)
        if isinstance(encoder, Encoder) and len(self._handled):
            self._collection = encoder.collect([self._encodings[n] for n in self._handled.tolist()])

    @property
    def encoding_seconds(self) -> float:
        """As measured."""
        return self._seconds

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One query at a time."""
        block = []
        for number in numbers:
            scores = np.full(len(self._ids), -np.inf)
            scores[self._handled] = self._scores(number)
            block.append(scores)
        return block

    def _scores(self, number: int) -> Floats:
        query = self._encodings[number]
        if isinstance(self.matcher, Encoder):
            return np.asarray(self.matcher.score(query, self._collection), dtype=np.float64)
        return np.array([self.matcher.compare(query, self._encodings[n]).score for n in self._handled.tolist()])

    def _encode(self, number: int, document: Document) -> None:
        if not any(True for _ in document.sentences):
            self.unhandled[number] = "it has no sentence"
            return
        try:
            encoder = self.matcher
            self._encodings[number] = encoder.encode([document])[0] if isinstance(encoder, Encoder) else document
        except Exception as error:  # whatever a model raises is reported for the document
            self.unhandled[number] = f"{type(error).__name__}: {error}"
