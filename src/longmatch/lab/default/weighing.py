"""How the sides of the default are weighed: the lists they are learnt from, and what a choice of weights is worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from longmatch.default.calibration import log_above_floor
from longmatch.default.sides import NAMES as SIDES
from longmatch.default.sides import SIDES as DEFAULT_SIDES
from longmatch.lab.datasets.records import Split
from longmatch.lab.default.side_scorer import SideScorer
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.measures.answers import Answers
from longmatch.lab.evaluation.measures.ranking import nDCG
from longmatch.lab.evaluation.protocols import Task
from longmatch.lab.losses.listwise import listwise_loss
from longmatch.matching.matcher import Progress

BEST = 60  # documents of each side that a query's list holds
FINDERS = (*SIDES[:4], "named")  # the sides whose best make up a list
FLOORS = {side.name: side.floor for side in DEFAULT_SIDES}
DEPTH = 10  # of nDCG
WORDS_SHARE = 0.2  # of what phrases weigh; left to themselves, words weigh too much where documents quote each other

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lists:
    """The lists of a set's queries, end to end: sides (documents, sides), grades, and the grades of all answers."""

    sides: Floats
    grades: Ints
    offsets: Ints
    wanted: Ints  # (queries, DEPTH), falling
    lengths: Floats  # words of the query and of the document: (documents, 2)
    trust: Floats  # in each side, in this collection

    def __len__(self) -> int:
        return len(self.wanted)

    @staticmethod
    def read(path: Path) -> "Lists":
        """What `features` wrote."""
        with np.load(path) as arrays:
            return Lists(**arrays)

    def write(self, path: Path) -> None:
        """To be read again."""
        np.savez_compressed(path, **vars(self))


def lists_of(
    corpus: Corpus, scorer: SideScorer, split: Split, limit: int | None = None, progress: Progress | None = None
) -> Lists:
    """The best documents of each query by any of the finding sides, all sides of them, and the grades."""
    task = Task.of(corpus, split, pairs=False, limit=limit)
    found = []
    for number, sides in scorer.each(task.numbers(corpus)):
        id = corpus.ids[number]
        right = {corpus.number[answer]: grade for answer, grade in task.qrels[id].items()}
        pool = np.array([corpus.number[other] for other in corpus.folder.pool(id)], dtype=np.int64)
        best = [pool[np.argsort(-sides[side][pool], kind="stable")[:BEST]] for side in FINDERS]
        rows = np.unique(np.concatenate(best))
        words = sides["lengths"]
        found.append(
            (
                np.stack([sides[side][rows] for side in SIDES], axis=1).astype(np.float32),
                np.array([right.get(row, 0) for row in rows.tolist()], dtype=np.int64),
                np.array((sorted(right.values(), reverse=True) + [0] * DEPTH)[:DEPTH], dtype=np.int64),
                np.stack([np.full(len(rows), words[number]), words[rows]], axis=1).astype(np.float32),
            )
        )
        if progress:
            progress(1)
    parts, grades, wanted, lengths = zip(*found, strict=True)
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    flat = np.concatenate(parts), np.concatenate(grades), offsets, np.stack(wanted), np.concatenate(lengths)
    return Lists(*flat, scorer.trust.astype(np.float32))


def transformed(lists: Lists, columns: Sequence[int]) -> Floats:
    """The logarithm of each side above its floor, as far as it is trusted: what no side has counts little."""
    sides = lists.sides.astype(np.float64)
    found = [lists.trust[column] * log_above_floor(sides[:, column], FLOORS[SIDES[column]]) for column in columns]
    return np.stack(found, axis=1).astype(np.float32)


def fit(sets: Sequence[Lists], columns: Sequence[int], steps: int = 60) -> Floats:
    """Weights of the sides that put answers first, every set counting alike; words weigh a share of phrases."""
    packed = [_padded(lists, columns) for lists in sets]
    spread = _spread(columns)
    weights = torch.ones(spread.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=steps, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        losses = [listwise_loss(x @ (spread @ weights), answers, listed) for x, answers, listed in packed]
        loss = torch.stack(losses).mean() + 1e-3 * (weights - 1).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return np.asarray((spread @ weights.detach()).numpy())


def _spread(columns: Sequence[int]) -> torch.Tensor:
    """What each side weighs by what is learnt: (sides, free weights)."""
    sides = [SIDES[column] for column in columns]
    spread = torch.eye(len(sides))
    if "words" not in sides or "phrases" not in sides:
        return spread
    words = sides.index("words")
    spread[words, sides.index("phrases")] = WORDS_SHARE
    return spread[:, [side != "words" for side in sides]]


def _padded(lists: Lists, columns: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    counts = np.diff(lists.offsets)
    listed = np.arange(counts.max()) < counts[:, None]
    x = np.zeros((*listed.shape, len(columns)), dtype=np.float32)
    answers = np.zeros(listed.shape, dtype=bool)
    x[listed], answers[listed] = transformed(lists, columns), lists.grades > 0
    return torch.from_numpy(x), torch.from_numpy(answers), torch.from_numpy(listed)


def worth(lists: Lists, columns: Sequence[int], weights: Floats) -> float:
    """The mean nDCG@10 of the queries, with grades as gains."""
    return float(np.mean(worth_of_each(lists, columns, weights)))


def worth_of_each(lists: Lists, columns: Sequence[int], weights: Floats) -> npt.NDArray[np.float64]:
    """nDCG@10 of each query."""
    scores = transformed(lists, columns) @ weights
    found = []
    for wanted, (start, end) in zip(lists.wanted, pairwise(lists.offsets.tolist()), strict=True):
        grades = lists.grades[start:end][np.argsort(-scores[start:end], kind="stable")]
        places = np.flatnonzero(grades > 0)
        found.append(Answers(places + 1, grades[places], wanted[wanted > 0], len(grades)))
    return nDCG(DEPTH).each(found)
