"""The default's best documents of each query, with all evidence that a second look could use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from longmatch.default.calibration import log_above_floor
from longmatch.default.sides import LENGTH, NAMES
from longmatch.lab.default.features import DEPTH, FLOORS, SideScorer
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures.query_result import Floats, Ints
from longmatch.lab.evaluation.protocols import EvaluationTask
from longmatch.lab.reranking.passages import KINDS, PassageEvidence, SectionedSentences, passage_evidence

MOST = 100  # documents of a query
LENGTHS = ("length", "shorter")  # of the document; how much shorter than the query it is
EVIDENCE = (*NAMES, *KINDS, *LENGTHS)


@dataclass(frozen=True)
class CandidateLists:
    """For each query the default's best documents, best first; all lists end to end."""

    queries: Ints  # the documents' numbers: (queries,)
    offsets: Ints  # where each query's list begins, and the end
    documents: Ints  # (candidates,)
    grades: Ints  # (candidates,)
    scores: npt.NDArray[np.float32]  # the default's evidence: (candidates,)
    evidence: npt.NDArray[np.float32]  # logarithms of sides and lengths, passages as they are: (candidates, EVIDENCE)
    closest: npt.NDArray[np.int32]  # sentences of the query and of the document: (candidates, 2, CLOSEST)
    wanted: Ints  # the best grades there are, falling: (queries, DEPTH)

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The query and document of each candidate."""
        sources = np.repeat(self.queries, np.diff(self.offsets))
        return list(zip(sources.tolist(), self.documents.tolist(), strict=True))

    @property
    def places(self) -> Ints:
        """The place of each candidate in its list, from 0."""
        return np.arange(len(self.documents)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def padded(self, depth: int) -> Ints:
        """The candidates of each query, at most `depth`, -1 where a list is shorter: (queries, depth)."""
        padded = np.full((len(self), depth), -1)
        for query, (start, end) in enumerate(pairwise(self.offsets.tolist())):
            listed = min(depth, end - start)
            padded[query, :listed] = np.arange(start, start + listed)
        return padded

    @staticmethod
    def join(parts: Sequence["CandidateLists"]) -> "CandidateLists":
        """The lists of all parts, one after another."""
        flat = {name: np.concatenate([vars(part)[name] for part in parts]) for name in vars(parts[0])}
        counts = np.concatenate([np.diff(part.offsets) for part in parts])
        return CandidateLists(**flat | {"offsets": np.concatenate([[0], counts.cumsum()])})

    @staticmethod
    def read(path: Path) -> "CandidateLists":
        """Read what `write` wrote."""
        with np.load(path) as arrays:
            return CandidateLists(**arrays)

    def write(self, path: Path) -> None:
        """Write as .npz."""
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(path, **vars(self))


class CandidateScorer(SideScorer):
    """The default's own evidence, all sides, and passages."""

    def find(
        self, task: EvaluationTask, corpus: Corpus, most: int = MOST, numbers: Sequence[int] | None = None
    ) -> CandidateLists:
        """The best documents of each query of a task, or of those with some numbers."""
        calibration = self._rarity.calibration(self.matcher.statistics)
        lists: list[Mapping[str, npt.NDArray[np.generic]]] = []
        for number, sides in self.each(task.numbers(corpus) if numbers is None else numbers, (*NAMES, LENGTH.name)):
            scores = calibration.evidence({name: sides[name] for name in calibration.sides})
            right = {corpus.number[answer]: grade for answer, grade in task.qrels[corpus.ids[number]].items()}
            scores[list(self.unhandled)] = -np.inf
            best = _best(number, scores, corpus, most)
            passages = self._passages(number, best.tolist())
            lists.append(
                {
                    "documents": best,
                    "grades": np.array([right.get(document, 0) for document in best.tolist()], dtype=np.int64),
                    "scores": scores[best].astype(np.float32),
                    "evidence": _evidence(number, best, sides, self.trust, passages),
                    "closest": _closest(passages),
                    "queries": np.array([number]),
                    "wanted": np.array([(sorted(right.values(), reverse=True) + [0] * DEPTH)[:DEPTH]]),
                }
            )
        counts = [len(each["documents"]) for each in lists]
        flat = {name: np.concatenate([each[name] for each in lists]) for name in lists[0]}
        return CandidateLists(offsets=np.concatenate([[0], np.cumsum(counts)]), **flat)

    def _passages(self, number: int, documents: Sequence[int]) -> PassageEvidence:
        query, others = (SectionedSentences.of(self._vectors, self._chance, each) for each in ([number], documents))
        return passage_evidence(query, others)


def _best(number: int, scores: Floats, corpus: Corpus, most: int) -> Ints:
    """The best documents of a query's pool; ties are broken as in every ranking."""
    pool = np.array([corpus.number[id] for id in corpus.folder.pool(corpus.ids[number])], dtype=np.int64)
    pool = pool[scores[pool] > -np.inf]
    return pool[np.lexsort((-corpus.order[pool], -scores[pool]))[:most]]


def _evidence(
    number: int, best: Ints, sides: Mapping[str, Floats], trust: Floats, passages: PassageEvidence
) -> npt.NDArray[np.float32]:
    logs = [far * log_above_floor(sides[name][best], FLOORS[name]) for name, far in zip(NAMES, trust, strict=True)]
    words = np.log(np.maximum(sides["lengths"], 1))
    lengths = (words[best], np.minimum(words[best] - words[number], 0))
    columns = (*logs, *passages.values.cpu().numpy().T, *lengths)
    return np.stack(columns, axis=1).astype(np.float32)


def _closest(passages: PassageEvidence) -> npt.NDArray[np.int32]:
    both = (passages.query_sentences, passages.document_sentences)
    return np.stack([each.cpu().numpy().astype(np.int32) for each in both], axis=1)
