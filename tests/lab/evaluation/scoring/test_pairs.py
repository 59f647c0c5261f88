"""Models that read two documents together as rows: pairs as they are, rankings of what BM25 found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.datasets import DataFolder
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.evaluate import Evaluation, evaluate
from longmatch.lab.evaluation.fidelity import fidelity
from longmatch.lab.evaluation.protocols import EvaluationTask, score_task
from longmatch.lab.evaluation.scoring.pairs import PairScorer, Reranking, scorer_of
from longmatch.lab.papers.sst.matcher import SstMatcher, SstModel
from longmatch.lab.store.store import LayerStore
from longmatch.models.loading import load
from tests.lab.baselines.cross.tiny_cross import enlarge, tiny_matcher
from tests.lab.evaluation.conftest import TEXTS

pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
Make = Callable[..., Path]
QRELS = [("test", "boats", "ships", 1), ("test", "bread", "cakes", 2), ("test", "boats", "stars", 1)]
PAIRS = [
    ("validation", "boats", "ships", 1),
    ("validation", "stars", "bread", 0),
    ("test", "boats", "stars", 1),
    ("test", "bread", "cakes", 0),
]


@pytest.fixture(scope="module")
def matcher(tiny_bert: Path) -> CrossMatcher:
    return tiny_matcher(tiny_bert)


@pytest.fixture
def save_cross(matcher: CrossMatcher, tmp_path: Path) -> Callable[[], Path]:
    """Write the model as `longmatch train` writes a trained one."""

    def save() -> Path:
        folder = tmp_path / "trained"
        matcher.model.save_pretrained(folder)
        matcher.tokenizer.save_pretrained(folder)
        record = {"model": "cross", "seed": 1, "data": ["tiny"], "settings": {"seed": 1}}
        (folder / "longmatch.json").write_text(json.dumps(record), encoding="utf-8")
        return folder

    return save


def opened(matcher: CrossMatcher, corpus: Corpus, out: Path, depth: int, **reranking: Any) -> PairScorer:
    scorer = scorer_of(matcher, Reranking(depth, **reranking))
    assert isinstance(scorer, PairScorer)
    scorer.open(LayerStore.of(out, corpus.source).build(scorer.layers), corpus)
    return scorer


def scores_of(name: str, corpus: Corpus, out: Path, numbers: list[int]) -> list[np.ndarray]:
    scorer = scorer_of(load(name))
    scorer.open(LayerStore.of(out, corpus.source).build(scorer.layers), corpus)
    return [scores for _, scores in scorer.scores(numbers)]


def test_the_best_by_bm25_score_as_the_matcher_scores_them_and_no_others_do(
    matcher: CrossMatcher, example_corpus: Corpus, tmp_path: Path
) -> None:
    corpus, numbers = example_corpus, [0, 5, 7, 11, 12, 20]
    documents = corpus.documents(corpus.ids)
    found = dict(opened(matcher, corpus, tmp_path, 6).scores(numbers))
    for number, first in zip(numbers, scores_of("bm25", corpus, tmp_path, numbers), strict=True):
        others = [n for n in range(len(corpus)) if n != number]
        pool = sorted(others, key=lambda n: (-first[n], -corpus.order[n]))[:6]
        assert sorted(np.flatnonzero(np.isfinite(found[number]))) == sorted(pool)
        pairs = [(documents[corpus.ids[number]], documents[corpus.ids[n]]) for n in pool]
        np.testing.assert_allclose(found[number][pool], matcher.score_pairs(pairs), atol=1e-5)


def test_a_ranking_takes_the_mean_of_the_views_and_a_pair_the_largest(
    tiny_bert: Path, example_corpus: Corpus, tmp_path: Path
) -> None:
    torch.manual_seed(0)
    model = SstModel.from_backbone(str(tiny_bert), pool="by-task").eval()
    enlarge(model, 0.3)
    matcher, corpus = SstMatcher(model, open_tokenizer(str(tiny_bert)), "float32"), example_corpus
    scorer = opened(matcher, corpus, tmp_path, 3)
    ((_, ranked),) = scorer.scores([5])
    assert ranked is not None
    pool = np.flatnonzero(np.isfinite(ranked))
    ((_, told),) = scorer.of_pairs({5: pool.tolist()})
    documents = corpus.documents(corpus.ids)
    pairs = [(documents[corpus.ids[5]], documents[corpus.ids[n]]) for n in pool.tolist()]
    np.testing.assert_allclose(ranked[pool], matcher.score_pairs(pairs, for_ranking=True), atol=1e-5)
    np.testing.assert_allclose(told, matcher.score_pairs(pairs), atol=1e-5)
    assert (told > ranked[pool]).all()


def test_the_best_by_the_default_can_be_reranked_and_both_ranks_combined(
    matcher: CrossMatcher, example_corpus: Corpus, tmp_path: Path
) -> None:
    corpus, numbers, depth = example_corpus, [0, 5, 20], 7
    alone = dict(opened(matcher, corpus, tmp_path, depth, first="default").scores(numbers))
    both = dict(opened(matcher, corpus, tmp_path, depth, first="default", combined=True).scores(numbers))
    for number, first in zip(numbers, scores_of("default", corpus, tmp_path, numbers), strict=True):
        others = [n for n in range(len(corpus)) if n != number]
        pool = sorted(others, key=lambda n: (-first[n], -corpus.order[n]))[:depth]
        assert set(np.flatnonzero(np.isfinite(alone[number]))) == set(np.flatnonzero(np.isfinite(both[number])))
        assert set(np.flatnonzero(np.isfinite(alone[number]))) == set(pool)
        ranks = [[sum(scores[m] < scores[n] for m in pool) for n in pool] for scores in (first, alone[number])]
        np.testing.assert_allclose(both[number][pool], np.mean(ranks, axis=0))  # no two scores are equal


def test_rows_of_another_first_stage_have_a_name_of_their_own(
    make_data: Make, save_cross: Callable[[], Path], tmp_path: Path
) -> None:
    folder, model, out = make_data(qrels=QRELS, pairs=PAIRS), str(save_cross()), tmp_path / "out"
    evaluate([folder], [model], out=out, rerank_depth=2)
    evaluate([folder], [model], out=out, rerank_depth=2, first_stage="default", combine_ranks=True)
    rows = {row["model"] for row in json.loads((out / "results.json").read_text(encoding="utf-8"))}
    assert {"cross", "cross combined=True first=default"} < rows
    assert "cross combined=True first=default : reranks default's best 2" in (out / "results.md").read_text("utf-8")


def test_a_first_stage_that_does_not_exist_is_named_before_anything_is_read(make_data: Make, tmp_path: Path) -> None:
    with pytest.raises(LongmatchError, match=r"no first stage sdr\. Name one of bm25, default\."):
        evaluate([make_data(qrels=QRELS)], ["tfidf"], out=tmp_path / "out", first_stage="sdr")  # type: ignore[arg-type]


def test_a_scorer_asked_twice_reads_the_documents_of_the_second_time_alone(
    matcher: CrossMatcher, example_corpus: Corpus, tmp_path: Path
) -> None:
    scorer = opened(matcher, example_corpus, tmp_path, 2)
    list(scorer.scores([0, 5, 20]))
    list(scorer.scores([7]))
    assert len(scorer._documents) == 3 and 7 in scorer._documents


def test_only_a_querys_own_pool_is_ranked_anew(make_data: Make, matcher: CrossMatcher, tmp_path: Path) -> None:
    folder = make_data(qrels=QRELS, pools=[("boats", "stars"), ("boats", "cakes"), ("boats", "bread")])
    corpus = Corpus(DataFolder(folder))
    (_, scores), *_ = opened(matcher, corpus, tmp_path, 40).scores([corpus.number["boats"]])
    assert {corpus.ids[n] for n in np.flatnonzero(np.isfinite(scores))} == {"stars", "cakes", "bread"}


def test_pairs_score_as_the_matcher_scores_them_and_enter_no_ranking(
    make_data: Make, matcher: CrossMatcher, tmp_path: Path
) -> None:
    corpus = Corpus(DataFolder(make_data(qrels=QRELS, pairs=PAIRS)))
    scorer, task = opened(matcher, corpus, tmp_path, 1), EvaluationTask.of(corpus, "test")
    told: list[int] = []
    outcome = score_task(task, corpus, scorer, told.append)
    documents = corpus.documents(TEXTS)
    wanted = matcher.score_pairs([(documents[a], documents[b]) for _, a, b, _ in PAIRS])
    np.testing.assert_allclose([*outcome.validation, *outcome.pairs], wanted, atol=1e-5)
    assert outcome.answers["boats"].ranks[0] == 1  # ships, which bm25 puts first; stars, though a pair, is not ranked
    assert outcome.answers["boats"].ranks[1] > 1 and sum(told) == task.steps(corpus, scorer) == 5


def test_a_document_that_cannot_be_read_scores_lowest_and_is_counted(
    make_data: Make, matcher: CrossMatcher, tmp_path: Path
) -> None:
    pairs = [("test", "boats", "none", 1), ("test", "none", "boats", 0), ("test", "boats", "ships", 1)]
    corpus = Corpus(DataFolder(make_data(TEXTS | {"none": ""}, pairs=pairs, qrels=[("test", "boats", "none", 1)])))
    scorer = opened(matcher, corpus, tmp_path, 40)
    outcome = score_task(EvaluationTask.of(corpus, "test"), corpus, scorer)
    assert np.isfinite(outcome.pairs).tolist() == [False, False, True]
    assert outcome.answers["boats"].ranks.tolist() == [5] and list(scorer.unhandled) == [corpus.number["none"]]


def test_a_row_says_how_many_were_reranked_and_is_not_made_twice(
    make_data: Make, save_cross: Callable[[], Path], tmp_path: Path
) -> None:
    folder, model, out = make_data(qrels=QRELS, pairs=PAIRS), str(save_cross()), tmp_path / "out"
    evaluate([folder], [model], out=out, protocol="both", rerank_depth=2)
    rows = {row["model"]: row for row in json.loads((out / "results.json").read_text(encoding="utf-8"))}
    assert {"nDCG@10", "F1"} < set(rows["cross"]["measures"])
    assert rows["cross"]["rerank_depth"] == 2 and "rerank_depth" not in rows["bm25"]
    assert "cross : reranks bm25's best 2" in (out / "results.md").read_text(encoding="utf-8")
    path = out / "runs" / "tiny.test.cross.seed1.json"
    before = path.stat().st_mtime_ns
    evaluate([folder], [model], out=out, protocol="both", rerank_depth=2)
    assert path.stat().st_mtime_ns == before
    evaluate([folder], [model], out=out, protocol="both", rerank_depth=3)
    assert path.stat().st_mtime_ns != before


def test_a_row_depends_on_the_networks_weights_and_settings_and_on_nothing_that_passes(tiny_bert: Path) -> None:
    first, copy, other, longer = (
        scorer_of(tiny_matcher(tiny_bert, **settings)).facts
        for settings in ({"views": 2}, {"views": 2}, {"views": 3}, {"views": 2, "side_tokens": 9})
    )
    turned = tiny_matcher(tiny_bert, views=2)
    turned.model.classifier.weight.data.neg_()
    assert first == copy and len({facts["matcher"] for facts in (first, other, longer, scorer_of(turned).facts)}) == 4


def test_the_command_names_the_depth_where_it_is_not_the_usual_one() -> None:
    changed = Evaluation([Path("a")], [], Path("b"), reranking=Reranking(7, "default", combined=True)).command
    assert "--rerank-depth 7 --first-stage default --combine-ranks" in changed
    assert "--rerank-depth" not in Evaluation([Path("a")], [], Path("b")).command


def test_explanations_can_be_measured(matcher: CrossMatcher, example_corpus: Corpus) -> None:
    a, b = example_corpus.documents(example_corpus.ids[:2]).values()
    found = fidelity(matcher, a, b)
    assert found.score == pytest.approx(matcher.score_pairs([(a, b)])[0], abs=1e-5)
    assert found.named_deleted != found.score
