"""The sides of the default's score, against comparisons of one pair at a time."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.lab.default.side_scorer import SIDES, SideScorer
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.scoring import slices
from longmatch.lab.store import store
from longmatch.lab.store.store import LayerStore


@pytest.fixture(scope="module")
def scorer(
    matcher: HybridMatcher, example_corpus: Corpus, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SideScorer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "CHARACTERS", 40_000)
        patch.setattr(slices, "CPU_SENTENCES", 700)  # several slices
        scorer = SideScorer(matcher)
        scorer.open(
            LayerStore.of(tmp_path_factory.mktemp("layers"), example_corpus.source).build(scorer.layers), example_corpus
        )
        yield scorer


@pytest.fixture(scope="module")
def encodings(matcher: HybridMatcher, example_corpus: Corpus) -> list[Encoding]:
    return matcher.encode(list(example_corpus.folder.documents()))


def test_words_phrases_and_meaning_are_the_models_own(
    scorer: SideScorer, matcher: HybridMatcher, encodings: list[Encoding]
) -> None:
    collection = matcher.collect(encodings)
    for number, sides in scorer.each([0, 5]):
        expected = collection.sides(encodings[number], SIDES)
        assert np.allclose(sides["words"], expected["words"], atol=1e-9)
        assert np.allclose(sides["phrases"], expected["phrases"], atol=1e-9)
        assert np.allclose(sides["meaning"], expected["meaning"], atol=2e-3)  # stored vectors are halves
        assert sides["lengths"].tolist() == [e.words for e in encodings]


def test_topic_is_the_cosine_of_mean_vectors(scorer: SideScorer, encodings: list[Encoding]) -> None:
    means = [e.sentence_vectors.vectors.mean(0) for e in encodings]
    ((_, sides),) = scorer.each([3])
    expected = [float(torch.cosine_similarity(means[3], mean, dim=0)) for mean in means]
    assert np.allclose(sides["topic"], expected, atol=2e-3)


def test_a_title_found_in_the_query_scores_and_one_of_other_words_does_not(
    scorer: SideScorer, example_corpus: Corpus
) -> None:
    titles = [record.title for record in example_corpus.folder.records()]
    assert len(set(titles)) > 1
    ((_, sides),) = scorer.each([2])
    assert sides["title"][2] > 0
    assert sides["titled"][2] == pytest.approx(sides["title"][2])
    assert (sides["title"] >= 0).all()
    assert (sides["title"] <= 1 + 1e-9).all()


def test_names_and_titles_told_in_a_sentence_are_those_of_the_whole_corpus(
    scorer: SideScorer, matcher: HybridMatcher, encodings: list[Encoding], example_corpus: Corpus
) -> None:
    titles = [record.title for record in example_corpus.folder.records()]
    collection = matcher.collect(encodings)
    assert len(scorer._slices) > 1
    for number, sides in scorer.each(range(len(encodings))):
        expected = collection.sides(encodings[number], ["named"])["named"]
        assert sides["named"].tolist() == pytest.approx(expected.tolist(), abs=1e-12)
        assert expected[number] > 0
    ((_, sides),) = scorer.each([2])
    vectors = matcher.backbone.encode_texts(titles)
    best = (torch.from_numpy(vectors) @ encodings[2].sentence_vectors.vectors.T).topk(3, dim=1).values.mean(1)
    told = ((best - 0.5) / 0.5).clamp(min=0)
    assert np.allclose(sides["told"], told.numpy(), atol=2e-3)
