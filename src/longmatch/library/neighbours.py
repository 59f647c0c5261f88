"""The nearest documents of many documents at once, by words, by phrases and by document vector.

Each side is one product a block of documents. A term that very many documents hold tells little about which of them
belong together and costs most, so only the rarer ones are looked up: the work grows with the collection, not with its
square. Document vectors are multiplied with all others, or looked up in the approximate index where there is one.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from longmatch.library.index.index import Index
from longmatch.library.index.segment import Segment
from longmatch.library.index.terms import KINDS, Asked
from longmatch.library.question import Question
from longmatch.library.search import Living, Nearest

COMMON = 1_000  # documents: a term of more is not looked up

Ints = npt.NDArray[np.int64]


def neighbours(
    questions: Sequence[Question], index: Index, living: Living, count: int, nearest: Nearest | None = None
) -> list[set[str]]:
    """The `count` nearest of the living by each side, for each of some documents; never the document itself."""
    found: list[set[str]] = [set() for _ in questions]
    roster = index.roster
    for kind in KINDS:
        asked = [question.asked[kind] for question in questions]
        for names, best in zip(found, nearest_by_terms(kind, asked, index, count + 1), strict=True):
            names.update(str(roster.ids[i]) for i in best if roster.live[i])
    vectors = np.stack([question.vector for question in questions])
    for names, near in zip(found, _by_vector(vectors, index, living, count + 1, nearest), strict=True):
        names.update(near)
    for names, question in zip(found, questions, strict=True):
        names.discard(question.id)
    return found


def nearest_by_terms(kind: str, asked: Sequence[Asked], index: Index, count: int) -> list[Ints]:
    """The rows of the index with the largest cosine, dead ones too; fewer where fewer share a term."""
    parts = [_cosines(kind, asked, segment) for segment in index.segments if len(segment)]
    if not parts:
        return [np.empty(0, dtype=np.int64) for _ in asked]
    return [_largest(row, count) for row in _rows(sp.hstack(parts, format="csr"))]


def _cosines(kind: str, asked: Sequence[Asked], segment: Segment) -> sp.csr_array:
    """(documents asked about, documents of the segment), from the rarer of the heaviest terms."""
    kept, starts = segment[f"{kind}.kept"], segment[f"{kind}.starts"]
    bounds, columns, values = [0], [], []
    for one in asked:
        place = np.minimum(np.searchsorted(kept, one.ids), max(len(kept) - 1, 0))
        use = kept[place] == one.ids if len(kept) else np.zeros(len(one.ids), dtype=bool)
        place = place[use]
        rare = starts[place + 1] - starts[place] <= COMMON
        columns.append(place[rare])
        values.append((one.idf * one.weights)[use][rare].astype(np.float32))
        bounds.append(bounds[-1] + int(rare.sum()))
    query = sp.csr_array(
        (np.concatenate(values), np.concatenate(columns), np.array(bounds)), shape=(len(asked), len(kept))
    )
    found = sp.csr_array(query @ segment.postings(kind))
    norms = segment[f"{kind}.norms"][found.indices]
    found.data = found.data / np.where(norms > 0, norms, 1.0)
    return found


def _rows(matrix: sp.csr_array) -> list[tuple[Ints, npt.NDArray[np.float32]]]:
    bounds = matrix.indptr.tolist()
    return [(matrix.indices[a:b], matrix.data[a:b]) for a, b in pairwise(bounds)]


def _largest(row: tuple[Ints, npt.NDArray[np.float32]], count: int) -> Ints:
    places, values = row
    if len(places) <= count:
        return places
    return places[np.argpartition(-values, count)[:count]]


def _by_vector(
    vectors: npt.NDArray[np.float32], index: Index, living: Living, count: int, nearest: Nearest | None
) -> list[list[str]]:
    if nearest is not None:
        return [[id for id in nearest(vector, count) if living.has(id, index)] for vector in vectors]
    cosines = np.concatenate([s["means"] @ vectors.T for s in index.segments if len(s)])[living.rows]
    if len(cosines) > count:
        best = np.argpartition(-cosines, count, axis=0)[:count]
    else:
        best = np.tile(np.arange(len(cosines))[:, None], len(vectors))
    return [[str(name) for name in living.names[column]] for column in best.T]
