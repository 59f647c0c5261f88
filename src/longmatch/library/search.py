"""Search in two stages: candidates by words, by phrases and by document vector; then the exact score of those alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from longmatch.default.collection import stacked_titles, told_scores
from longmatch.default.encoding import Encoding
from longmatch.default.statistics import Statistics
from longmatch.encoders.ragged import offsets_of
from longmatch.library.index.index import Index
from longmatch.library.index.terms import KINDS, Floats
from longmatch.library.question import Question
from longmatch.library.rows import SCORE_COLUMNS, DocumentRow
from longmatch.library.store import Store
from longmatch.matching.levels import SentenceVectors, collection_scores

CANDIDATES = 60
"""The best of each side that are scored exactly."""

Nearest = Callable[[npt.NDArray[np.float32], int], Sequence[str]]


@dataclass(frozen=True)
class Living:
    """The documents a question is about: their names, and which of the index's rows they are."""

    names: npt.NDArray[np.object_]
    rows: npt.NDArray[np.int64]

    @staticmethod
    def of(index: Index, allowed: set[str] | None = None, without: str | None = None) -> "Living":
        """All living documents, or those allowed; `without` is the query itself."""
        roster = index.roster
        wanted = roster.live.copy()
        if allowed is not None:
            wanted &= np.fromiter((name in allowed for name in roster.ids), bool, len(wanted))
        if without is not None and without in roster.rows:
            wanted[roster.rows[without]] = False
        rows = np.flatnonzero(wanted)
        return Living(roster.ids[rows], rows)

    @property
    def ids(self) -> list[str]:
        """The documents' ids."""
        return [str(name) for name in self.names]

    def has(self, id: str, index: Index) -> bool:
        """Whether a document is one of them."""
        row = index.roster.rows.get(id)
        place = int(np.searchsorted(self.rows, row)) if row is not None else len(self.rows)
        return place < len(self.rows) and bool(self.rows[place] == row)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Scored:
    """Candidates and their exact scores, best first; ties break by id."""

    ids: tuple[str, ...]
    scores: Floats


def candidates(query: Encoding, index: Index, living: Living, count: int, nearest: Nearest | None = None) -> list[str]:
    """The `count` best documents by words, by phrases and by the document's vector, together."""
    vector = query.mean.numpy()
    sides = [first_scores(kind, query, index)[living.rows] for kind in KINDS]
    if nearest is None:
        sides.append(vector_scores(vector, index)[living.rows])
    found = {int(i) for side in sides for i in _best(side, count)}
    ids = [str(living.names[i]) for i in sorted(found)]
    if nearest is not None:
        ids += [id for id in nearest(vector, count + 1) if living.has(id, index)]
    return list(dict.fromkeys(ids))


def first_scores(kind: str, query: Encoding, index: Index) -> Floats:
    """The cosine with every document of the index, dead ones too, from their heaviest words or phrases."""
    asked = index.asked(kind, getattr(query.terms, kind).counts)
    return np.concatenate([segment.scores(kind, asked) for segment in index.segments] or [np.zeros(0)])


def vector_scores(vector: npt.NDArray[np.float32], index: Index) -> Floats:
    """The cosine of the document vectors."""
    parts = [np.asarray(s["means"] @ vector, dtype=np.float64) for s in index.segments if len(s)]
    return np.concatenate(parts) if parts else np.zeros(0)


def _best(scores: Floats, count: int) -> npt.NDArray[np.int64]:
    """The places of the largest scores; those of 0 have nothing in common with the query."""
    if len(scores) > count:
        chosen = np.argpartition(-scores, count)[:count]
        return np.asarray(chosen[scores[chosen] > 0])
    return np.flatnonzero(scores > 0)


def score(query: Encoding, ids: Sequence[str], store: Store, index: Index, statistics: Statistics) -> Scored:
    """The default matcher's score of a query with some documents, by the words of all documents."""
    rows = store.fetch(ids, SCORE_COLUMNS)
    if not rows:
        return Scored((), np.zeros(0))
    calibration = statistics.calibration.trusting(*index.trust)
    sides = Question.of_encoding(query, index).sides(rows, index, calibration.sides)
    if "meaning" in calibration.sides:
        sides["meaning"] = meaning_scores(query.sentence_vectors, rows)
    if "told" in calibration.sides:
        vectors = query.sentence_vectors.vectors
        sides["told"] = told_scores(vectors, stacked_titles([row.title_vector() for row in rows], vectors))
    scores = calibration.score(sides)
    order = sorted(range(len(rows)), key=lambda i: (-scores[i], rows[i].id))
    return Scored(tuple(rows[i].id for i in order), scores[order])


def meaning_scores(query: SentenceVectors, rows: Sequence[DocumentRow]) -> Floats:
    """The corrected sentence score, both directions averaged."""
    documents = [row.sentence_vectors() for row in rows]
    offsets = offsets_of(torch.tensor([len(sentences) for sentences in documents]))
    return np.asarray(collection_scores(query, SentenceVectors.cat(documents), offsets).double().numpy())
