"""The lists of a collection's queries, found in several processes."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from longmatch.default.matcher import HybridMatcher
from longmatch.default.statistics import shipped_statistics
from longmatch.encoders.backbone import Backbone
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import Split
from longmatch.lab.default.features import QUERIES_AT_ONCE
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.protocols import EvaluationTask
from longmatch.lab.reranking.candidates import CandidateLists, CandidateScorer
from longmatch.lab.store.store import LayerStore
from longmatch.parallel import parallel_map

Part = tuple[EvaluationTask, Sequence[int]]  # some queries of a split

_worker = threading.local()  # a process opens the collection once


def find_lists(
    folder: Path, layers: Path, limits: Mapping[Split, int | None], processes: int = 1
) -> Iterator[tuple[Split, CandidateLists]]:
    """The lists of some splits of a collection, of at most so many queries each; encodings are kept in `layers`."""
    corpus = Corpus(DataFolder(folder))
    scorer = CandidateScorer(HybridMatcher(Backbone.load(), shipped_statistics()))
    stored = LayerStore.of(layers, corpus.source, processes).build(scorer.layers)
    unhandled = {number for layer in stored for number in layer.unhandled}
    tasks = {split: EvaluationTask.of(corpus, split, pairs=False, limit=limit) for split, limit in limits.items()}
    parts = {
        split: _parts([number for number in task.numbers(corpus) if number not in unhandled])
        for split, task in tasks.items()
    }
    work = [(tasks[split], part) for split, of_split in parts.items() for part in of_split]
    found = parallel_map(_find, work, processes, chunk=1, setup=partial(_open, folder, layers))
    for split, of_split in parts.items():
        if of_split:
            yield split, CandidateLists.join([next(found) for _ in of_split])


def _parts(numbers: Sequence[int]) -> list[Sequence[int]]:
    return [numbers[start : start + QUERIES_AT_ONCE] for start in range(0, len(numbers), QUERIES_AT_ONCE)]


def _open(folder: Path, layers: Path) -> None:
    corpus = Corpus(DataFolder(folder))
    scorer = CandidateScorer(HybridMatcher(Backbone.load(), shipped_statistics()))
    scorer.open(LayerStore.of(layers, corpus.source).build(scorer.layers), corpus)
    _worker.corpus, _worker.scorer = corpus, scorer


def _find(part: Part) -> CandidateLists:
    task, numbers = part
    lists: CandidateLists = _worker.scorer.find(task, _worker.corpus, numbers=numbers)
    return lists
