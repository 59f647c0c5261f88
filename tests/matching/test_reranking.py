"""A second stage ranks anew what a first one found."""

from collections.abc import Sequence

import numpy as np
import pytest

from longmatch.documents.document import Document
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lexical.matcher import bm25_matcher
from longmatch.matching.matcher import rerank, scores_with
from longmatch.models.llm.matcher import LlmMatcher
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
    ranked = rerank(matcher, query, found, 3, total=10)
    assert [one.place for one in ranked] == np.argsort(-scores)[:3].tolist()
    assert [one.score for one in ranked] == pytest.approx(np.sort(scores)[::-1][:3].tolist(), abs=1e-5)


def test_what_was_not_found_counts_as_lower(matcher, documents):
    query, *found = documents
    assert [one.percentile for one in rerank(matcher, query, found, 2, total=10)] == [90.0, 80.0]
    assert rerank(matcher, query, [found[0], found[0]], 2, total=4)[0].percentile == 50.0  # two that score the same


def test_equal_scores_are_ordered_by_id(matcher, documents):
    query, one, _, other = documents[:4]
    twins = [Document(id, one.title, one.text, one.sections, one.language) for id in ("b", "a")]
    ranked = rerank(matcher, query, [twins[0], other, twins[1]], 3, total=3)
    places = [one.place for one in ranked]
    assert places.index(2) + 1 == places.index(0)


def test_a_model_that_encodes_ranks_anew_too(documents):
    query, *found = documents
    matcher = bm25_matcher()
    first, *rest = matcher.encode([query, *found])
    wanted = matcher.score(first, matcher.collect(rest))
    np.testing.assert_allclose(scores_with(matcher, query, found), wanted)
    assert len(scores_with(matcher, query, [])) == 0


def test_with_the_first_scores_both_orders_count_alike_and_those_scores_stay(matcher, documents):
    query, *found = documents
    first = np.array([9.0, 7.0, 7.0, 3.0, 2.0, 1.0])
    own = np.argsort(np.argsort(matcher.score_pairs([(query, document) for document in found])))  # no two are equal
    mean = {place: (5 - place + int(own[place])) / 2 for place in range(6)}
    ranked = rerank(matcher, query, found, 6, total=10, first=first)
    assert [one.place for one in ranked] == sorted(mean, key=lambda place: (-mean[place], found[place].id))
    assert [one.score for one in ranked] == [first[one.place] for one in ranked]
    percentiles = dict(enumerate((90.0, 70.0, 70.0, 60.0, 50.0, 40.0)))  # four were not found
    assert [one.percentile for one in ranked] == [percentiles[one.place] for one in ranked]
    assert [one.place for one in ranked] != [one.place for one in rerank(matcher, query, found, 6, total=10)]


def test_by_default_a_language_model_decides_alone(matcher):
    assert matcher.counts_with_first and not LlmMatcher.counts_with_first
