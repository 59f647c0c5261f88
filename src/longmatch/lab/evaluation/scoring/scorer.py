"""The base class of scorers: the scores of documents with the whole collection."""

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
from longmatch.matching.matcher import Matcher
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
