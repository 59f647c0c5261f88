"""RPRS as a matcher, over the packaged backbone."""

import pytest

from longmatch.lab.baselines.rprs.matcher import RprsMatcher, frequency_matcher
from longmatch.lab.baselines.rprs.score import RprsRule, SentencePool, rprs_scores
from longmatch.models.loading import load

NAMES = (
    "pear-block-season-trial.md",
    "when-to-water-fruit-trees.html",
    "the-queue-and-the-ledger.html",
    "given-out-column.md",
)


@pytest.fixture(scope="module", params=[RprsMatcher, frequency_matcher])
def rprs(request, matcher) -> RprsMatcher:
    return request.param(matcher.backbone)


@pytest.fixture(scope="module")
def encoded(rprs, examples):
    return rprs.encode([examples[name] for name in NAMES])


def test_the_score_is_that_of_the_definition_over_all_candidates(rprs, encoded):
    query, *others = encoded
    expected = rprs_scores(query.vectors, SentencePool.of([e.vectors for e in others]), rprs.rule)
    assert rprs.score(query, rprs.collect(others)).tolist() == expected.tolist()


def test_what_belongs_together_ranks_first(rprs, examples):
    query, *others = (examples[name] for name in NAMES)
    assert rprs.rank(query, others)[0].id == NAMES[1]


def test_a_query_among_the_candidates_leaves_their_scores_as_they_are(matcher, encoded):
    # without frequencies: they know the candidates' mean length, to which it would add
    rprs = RprsMatcher(matcher.backbone)
    query, *others = encoded
    assert rprs.score(query, rprs.collect(encoded))[1:].tolist() == rprs.score(query, rprs.collect(others)).tolist()


def test_a_lone_pair_scores_1_with_itself_and_less_with_others_from_either_side(rprs, encoded):
    a, b, other, _ = encoded
    assert rprs.explain(a, a).score == pytest.approx(1, abs=1e-6)
    assert rprs.explain(a, other).score < rprs.explain(a, b).score < 1
    assert rprs.explain(a, b).score == pytest.approx(rprs.explain(b, a).score, abs=1e-6)


def test_contributions_sum_to_1_and_passages_stand_where_they_say(rprs, encoded):
    match = rprs.explain(encoded[0], encoded[1])
    assert sum(x.contribution for x in match.alignments) == pytest.approx(1)
    for x in match.alignments:
        assert x.a.text == match.a.text[x.a.start : x.a.end] and x.b.text == match.b.text[x.b.start : x.b.end]


def test_both_rules_open_by_name(matcher):
    backbone = matcher.backbone
    assert load("rprs", backbone).rule == RprsRule() and load("rprs-frequency", backbone).rule.k1 == 1.5
