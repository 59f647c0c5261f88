"""What a network reads of a query and a candidate: the openings of both, and the sentences closest to each other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmatch.lab.evaluation.measures.query_result import Ints
from longmatch.lab.reranking.candidates import CandidateLists
from longmatch.lab.store.files import StoredLayer

OPENING, SIDE = 127, 254  # tokens of each document: of its opening, and in all


@dataclass(frozen=True)
class CandidateTexts:
    """The tokens of a collection's documents, and where the default's sentences end in them."""

    tokens: StoredLayer
    sentences: StoredLayer  # as the default cuts them

    def rows(self, lists: CandidateLists, candidates: Sequence[int]) -> list[tuple[Ints, Ints]]:
        """The token ids of both sides of some candidates."""
        queries = np.repeat(lists.queries, np.diff(lists.offsets))
        return [
            (self._side(int(queries[c]), lists.closest[c, 0]), self._side(int(lists.documents[c]), lists.closest[c, 1]))
            for c in candidates
        ]

    def _side(self, number: int, closest: Ints) -> Ints:
        ids = self._array(self.tokens, "ids", number)
        ends = self._array(self.sentences, "lengths", number).cumsum()
        return read_side(ids, ends, closest)

    def _array(self, layer: StoredLayer, name: str, number: int) -> Ints:
        first, last = layer.bounds(name)[[number, number + 1]]
        return layer.mapped(name)[first:last].astype(np.int64)


def read_side(ids: Ints, ends: Ints, closest: Ints, opening: int = OPENING, limit: int = SIDE) -> Ints:
    """The opening of a document and, in its order, as many of the closest sentences as fit, the best ones first.

    >>> ids, ends = np.arange(10), np.array([2, 4, 6, 8, 10])
    >>> read_side(ids, ends, np.array([4, 0, 2, 3, -1]), opening=3, limit=7).tolist()
    [0, 1, 2, 4, 5, 8, 9]
    """
    ends = np.minimum(ends, len(ids))
    starts = np.concatenate([[0], ends[:-1]])
    chosen, room = [], limit - min(opening, len(ids))
    for sentence in closest[closest >= 0].tolist():
        length = int(ends[sentence] - starts[sentence])
        if starts[sentence] >= opening and length <= room:
            chosen.append(sentence)
            room -= length
    return np.concatenate([ids[:opening], *(ids[starts[sentence] : ends[sentence]] for sentence in sorted(chosen))])
