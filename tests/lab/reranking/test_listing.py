"""The lists of a collection's splits, against those of all queries together."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from longmatch.default.matcher import HybridMatcher
from longmatch.default.statistics import shipped_statistics
from longmatch.encoders.backbone import Backbone
from longmatch.lab.datasets import DataFolder
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.protocols import EvaluationTask
from longmatch.lab.reranking import listing
from longmatch.lab.reranking.candidates import CandidateScorer
from longmatch.lab.reranking.listing import find_lists
from longmatch.lab.store.store import LayerStore
from tests.lab.evaluation.conftest import TEXTS


def test_the_lists_of_a_split_are_those_of_all_its_queries_together_or_of_as_many_as_asked_for(
    make_data: Callable[..., Path], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(listing, "QUERIES_AT_ONCE", 2)
    qrels = [(split, query, "ships", 1) for split in ("train", "test") for query in ("boats", "stars", "bread")]
    folder, layers = make_data(TEXTS, qrels=qrels), tmp_path / "layers"
    found = dict(find_lists(folder, layers, {"test": None, "train": 1}))
    assert {split: len(lists) for split, lists in found.items()} == {"test": 3, "train": 1}
    corpus, scorer = Corpus(DataFolder(folder)), CandidateScorer(HybridMatcher(Backbone.load(), shipped_statistics()))
    scorer.open(LayerStore.of(layers, corpus.source).build(scorer.layers), corpus)
    together = scorer.find(EvaluationTask.of(corpus, "test", pairs=False), corpus)
    for name, value in vars(together).items():
        assert np.array_equal(value, getattr(found["test"], name)), name


def test_a_split_without_queries_and_a_query_without_text_have_no_list(
    make_data: Callable[..., Path], tmp_path: Path
) -> None:
    qrels = [("test", "nothing", "ships", 1), ("train", "boats", "ships", 1)]
    folder = make_data(TEXTS | {"nothing": "\u2003"}, qrels=qrels)
    found = dict(find_lists(folder, tmp_path / "layers", {"train": None, "validation": None, "test": None}))
    assert {split: len(lists) for split, lists in found.items()} == {"train": 1}
