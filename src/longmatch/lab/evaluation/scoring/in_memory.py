"""Any other matcher, in memory: its own encodings and scores, or pairwise comparison if it has no encodings."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from longmatch.documents.document import Document
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures import Floats
from longmatch.lab.evaluation.scoring.scorer import Scorer
from longmatch.lab.store.files import StoredLayer
from longmatch.matching.matcher import Encoder


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
