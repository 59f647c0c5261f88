"""Lists read by a model of pairs, against the model itself."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from longmatch.lab.baselines.cross import matcher as cross
from longmatch.lab.datasets import DataFolder
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.reranking.pair_scores import pair_scores
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenLayer
from tests.lab.baselines.cross.tiny_cross import tiny_matcher
from tests.lab.reranking.made_lists import made_lists


@pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")  # its openings are short
def test_each_candidate_within_the_depth_has_the_score_of_the_pair_by_itself_and_the_others_minus_infinity(
    make_data: Callable[..., Path], tiny_bert: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(cross, "CPU_PAIRS", 3)  # several batches
    matcher, corpus = tiny_matcher(tiny_bert), Corpus(DataFolder(make_data()))
    layer = TokenLayer(matcher.tokenizer.backend_tokenizer)
    (tokens,) = LayerStore.of(tmp_path / "layers", corpus.source).build([layer])
    lists = made_lists({4: [0, 3, 1, 2], 1: [0], 2: [3, 1, 0]}, {4: {}, 1: {}, 2: {}})
    found = pair_scores(matcher, lists, tokens, depth=2)
    documents = list(corpus.folder.documents())
    expected = [
        matcher.score_pairs([(documents[query], documents[other])], for_ranking=True)[0]
        for query, other in [(4, 0), (4, 3), (1, 0), (2, 3), (2, 1)]
    ]
    assert found[[0, 1, 4, 5, 6]].tolist() == pytest.approx(expected, abs=2e-4)
    assert len(set(expected)) == 5
    assert found[[2, 3, 7]].tolist() == [-np.inf] * 3
