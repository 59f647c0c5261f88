"""A second stage ranks anew what a first one found."""

from collections.abc import Sequence

import numpy as np
import pytest

from longmatch.documents.document import Document
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lexical.matcher import bm25_matcher
from longmatch.llm.matcher import LlmMatcher
from longmatch.matching.reranking import rerank, scores_with
from tests.lab.baselines.cross.tiny_cross import tiny_matcher

pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")


@pytest.fixture(scope="module")
def matcher(tiny_bert) -> CrossMatcher:
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="module")
def documents(examples) -> Sequence[Document]:
    return list(examples.values())[:7]


def test_alone_the_order_is_that_of_the_second_models_scores(matcher, documents):
    query, *found = documents
    scores = matcher.score_pairs([(query, document) for document in found])
    ranked = rerank(matcher, query, found, 3, total=10, combine=False)
    assert [one.place for one in ranked] == np.argsort(-scores)[:3].tolist()
    assert [one.score for one in ranked] == pytest.approx(np.sort(scores)[::-1][:3].tolist(), abs=1e-5)


def test_what_was_not_found_counts_as_lower(matcher, documents):
    query, *found = documents
    assert [one.percentile for one in rerank(matcher, query, found, 2, total=10, combine=False)] == [90.0, 80.0]
    assert (
        rerank(matcher, query, [found[0], found[0]], 2, total=4, combine=False)[0].percentile == 50.0
    )  # two that score the same


def test_equal_scores_are_ordered_by_id(matcher, documents):
    query, one, _, other = documents[:4]
    twins = [Document(id, one.title, one.text, one.sections, one.language) for id in ("b", "a")]
    ranked = rerank(matcher, query, [twins[0], other, twins[1]], 3, total=3, combine=False)
    places = [one.place for one in ranked]
    assert places.index(2) + 1 == places.index(0)


def test_a_model_that_encodes_ranks_anew_too(documents):
    query, *found = documents
    matcher = bm25_matcher()
    first, *rest = matcher.encode([query, *found])
    wanted = matcher.score(first, matcher.collect(rest))
    np.testing.assert_allclose(scores_with(matcher, query, found), wanted)
    assert len(scores_with(matcher, query, [])) == 0


def test_by_default_both_orders_count_but_a_language_model_decides_alone(matcher, documents):
    query, *found = documents
    both = rerank(matcher, query, found, 6, total=6, combine=True)
    assert rerank(matcher, query, found, 6, total=6) == both
    assert matcher.counts_with_first and not LlmMatcher.counts_with_first
