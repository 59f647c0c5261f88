"""Any other matcher, all in memory: encoded and scored as it does itself; one without encodings compares two by two."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from longmatch.documents.document import Document
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures.answers import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.store.files import StoredLayer
from longmatch.matching.matcher import Encoder


class AnyScorer(Scorer):
    """Nothing is stored: for models whose encodings longmatch has no layer for."""

    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Encode all documents, each alone, so that one that fails spoils no other."""
        self._documents = corpus.documents(corpus.ids)
        self._ids = corpus.ids
        self._encodings: dict[int, Any] = {}
        self.unhandled = {n: "it cannot be read" for n, id in enumerate(corpus.ids) if id not in self._documents}
        started = time.perf_counter()
        for number, id in enumerate(corpus.ids):
            if id in self._documents:
                self._try(number, self._documents[id])
        self._seconds = time.perf_counter() - started
        encoder = self.matcher
        self._able = np.array(sorted(self._encodings), dtype=np.int64)
        if isinstance(encoder, Encoder) and len(self._able):
            self._collection = encoder.collect([self._encodings[n] for n in self._able.tolist()])

    @property
    def encoding_seconds(self) -> float:
        """As it was measured."""
        return self._seconds

    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """One query after the other."""
        found = []
        for number in numbers:
            scores = np.full(len(self._ids), -np.inf)
            scores[self._able] = self._scores(number)
            found.append(scores)
        return found

    def _scores(self, number: int) -> Floats:
        query = self._encodings[number]
        if isinstance(self.matcher, Encoder):
            return np.asarray(self.matcher.score(query, self._collection), dtype=np.float64)
        return np.array([self.matcher.compare(query, self._encodings[n]).score for n in self._able.tolist()])

    def _try(self, number: int, document: Document) -> None:
        if not any(True for _ in document.sentences):
            self.unhandled[number] = "it has no sentence"
            return
        try:
            encoder = self.matcher
            self._encodings[number] = encoder.encode([document])[0] if isinstance(encoder, Encoder) else document
        except Exception as error:  # whatever a model raises is a fact about the document, and reported as such
            self.unhandled[number] = f"{type(error).__name__}: {error}"
