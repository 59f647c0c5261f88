"""What a protocol asks of a model: the scores of one document after the other with the whole collection."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from longmatch.documents.document import Document
from longmatch.lab.evaluation.code import home_of
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures.answers import Floats
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.layer import Layer
from longmatch.matching.matcher import Matcher
from longmatch.matching.sentences import Sentences

BLOCK = 64  # queries that share the reading of a slice


class Scorer(ABC):
    """A model over a corpus. Documents it cannot handle score minus infinity."""

    block: ClassVar[int] = BLOCK

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.unhandled: dict[int, str] = {}

    @property
    def layers(self) -> Sequence[Layer]:
        """What has to be on disk first."""
        return ()

    @property
    def facts(self) -> Mapping[str, Any]:
        """All that the scores depend on besides the documents and the layers."""
        return {}

    @property
    def code(self) -> Sequence[str]:
        """The files and folders of the package that the scores depend on, besides those the layers name."""
        return home_of(self.matcher)

    @abstractmethod
    def open(self, stored: Sequence[StoredLayer], corpus: Corpus) -> None:
        """Make ready to score: `stored` are the layers asked for."""

    @abstractmethod
    def score_block(self, numbers: Sequence[int]) -> list[Floats]:
        """The scores of a few documents with all documents of the corpus: (documents,) each."""

    @property
    def encoding_seconds(self) -> float | None:
        """What encoding all documents took; None where the layers tell."""
        return None

    def scores(self, numbers: Sequence[int]) -> Iterator[tuple[int, Floats | None]]:
        """The scores of each document asked about, by its number; None for one that cannot be handled."""
        yield from ((number, None) for number in numbers if number in self.unhandled)
        able = [number for number in numbers if number not in self.unhandled]
        bad = np.fromiter(self.unhandled, np.int64, len(self.unhandled))
        for start in range(0, len(able), self.block):
            block = able[start : start + self.block]
            for number, scores in zip(block, self.score_block(block), strict=True):
                scores[bad] = -np.inf
                yield number, scores


def no_sentences(title: str = "", count: int = 0) -> Sentences:
    """In place of sentences where only scores are wanted, and no passages; so many of them."""
    nowhere = np.zeros(count, dtype=np.int64)
    return Sentences(Document("", title, "", ()), nowhere, nowhere, nowhere, nowhere, nowhere)
