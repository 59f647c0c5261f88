"""The proportional relevance score as plain loops, and worked by hand, against the products and reductions."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.lab.baselines.rprs import matcher as score
from longmatch.lab.baselines.rprs.matcher import (
    Hits,
    RprsMatcher,
    RprsRule,
    SentencePool,
    find_hits,
    frequency_matcher,
    nearest_cosines,
    proportional_scores,
    rprs_scores,
    top_cosines,
)
from longmatch.models.loading import load

SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=6)  # sentences in each candidate
RULES = st.builds(
    RprsRule,
    hits=st.integers(1, 8),
    k1=st.none() | st.sampled_from([0.5, 1.2, 3.0]),
    b=st.sampled_from([0.0, 0.75, 1.0]),
)
NAMES = (
    "pear-block-season-trial.md",
    "when-to-water-fruit-trees.html",
    "the-queue-and-the-ledger.html",
    "given-out-column.md",
)


def drawn(count: int, generator: torch.Generator) -> torch.Tensor:
    return torch.nn.functional.normalize(torch.randn((count, 6), generator=generator), dim=1)


def plain_scores(
    query: torch.Tensor, documents: list[torch.Tensor], rule: RprsRule, own: int | None = None
) -> list[float]:
    """Sentence by sentence: rank the whole pool, take the first n, count."""
    pool = [(d, s) for d, document in enumerate(documents) for s in range(len(document)) if d != own]
    hits = []
    for q in query:
        ranked = sorted(pool, key=lambda place: -float(q @ documents[place[0]][place[1]]))
        bar = min(float(q @ documents[d][s]) for d, s in ranked[: rule.hits])
        everywhere = [(d, s) for d, document in enumerate(documents) for s in range(len(document))]
        hits.append({place for place in everywhere if float(q @ documents[place[0]][place[1]]) >= bar - 1e-5})
    mean = sum(map(len, documents)) / len(documents)
    found = []
    for d, document in enumerate(documents):

        def counted(f: int, length: int = len(document)) -> float:
            if rule.k1 is None:
                return float(f > 0)
            return f / (f + rule.k1 * (1 - rule.b + rule.b * length / mean))

        asked = sum(counted(sum(place[0] == d for place in own_hits)) for own_hits in hits) / len(query)
        answered = sum(counted(sum((d, s) in h for h in hits)) for s in range(len(document))) / len(document)
        found.append(asked * answered)
    return found


@given(st.integers(1, 5), SHAPES, RULES, st.integers(0, 1000), st.sampled_from([1, 20, 1 << 25]))
@settings(deadline=None)
def test_scores_equal_the_plain_loops(sentences, shape, rule, seed, cells):
    generator = torch.Generator().manual_seed(seed)
    query, documents = drawn(sentences, generator), [drawn(count, generator) for count in shape]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score, "CELLS", cells)
        found = rprs_scores(query, SentencePool.of(documents), rule)
    assert found.tolist() == pytest.approx(plain_scores(query, documents, rule), abs=1e-5)


@given(SHAPES.filter(lambda shape: len(shape) > 1), RULES, st.integers(0, 1000))
@settings(deadline=None)
def test_a_query_among_the_candidates_is_no_hit_of_its_own(shape, rule, seed):
    generator = torch.Generator().manual_seed(seed)
    documents = [drawn(count, generator) for count in shape]
    found = rprs_scores(documents[1], SentencePool.of(documents), rule, skip=1)
    assert found.tolist() == pytest.approx(plain_scores(documents[1], documents, rule, own=1), abs=1e-5)


@given(SHAPES, SHAPES, RULES, st.integers(0, 1000))
@settings(deadline=None)
def test_a_pool_in_two_slices_is_one_pool(left, right, rule, seed):
    generator = torch.Generator().manual_seed(seed)
    query, documents = drawn(3, generator), [drawn(count, generator) for count in [*left, *right]]
    slices = [SentencePool.of(documents[: len(left)]), SentencePool.of(documents[len(left) :])]
    best = top_cosines([nearest_cosines(query, part, rule.hits) for part in slices], rule.hits)
    found = proportional_scores(Hits.join([find_hits(query, part, best) for part in slices]), rule)
    torch.testing.assert_close(found, rprs_scores(query, SentencePool.of(documents), rule))


# Two query sentences, east and north. The pool: A = [east, north], B = [north-ish, west], C = [west, west, east-ish].
EAST, NORTH, WEST = torch.eye(2)[0], torch.eye(2)[1], -torch.eye(2)[0]
NEAR_NORTH, NEAR_EAST = torch.tensor([0.28, 0.96]), torch.tensor([0.8, 0.6])
QUERY = torch.stack([EAST, NORTH])
POOL = SentencePool.of([torch.stack(d) for d in ([EAST, NORTH], [NEAR_NORTH, WEST], [WEST, WEST, NEAR_EAST])])


def test_one_hit_a_sentence_worked_by_hand():
    # East's nearest is A's first, north's is A's second: A answers all and is all asked for; the others nothing.
    assert rprs_scores(QUERY, POOL, RprsRule(hits=1)).tolist() == [1.0, 0.0, 0.0]


def test_two_hits_a_sentence_worked_by_hand():
    # East: A1 (1), C3 (.8). North: A2 (1), B1 (.96). So B: 1/2 of the query, 1/2 of B; C: 1/2 of it, 1/3 of C.
    assert rprs_scores(QUERY, POOL, RprsRule(hits=2)).tolist() == pytest.approx([1.0, 1 / 4, 1 / 6])


def test_frequencies_worked_by_hand():
    # Three hits. East: A1, C3, B1 (.28). North: A2, B1, C3 (.6). Mean length 7/3; k1 = 1, b = 1: slack = length / mean.
    # A: f = 1 for both sentences, slack 6/7: 1 / (13/7) = 7/13 each way. B: its first answers both (f = 2), its other
    # none. C: its third answers both, slack 9/7.
    a = (7 / 13) ** 2
    b = (7 / 13) * (2 / (2 + 6 / 7)) / 2
    c = (1 / (1 + 9 / 7)) * (2 / (2 + 9 / 7)) / 3
    assert rprs_scores(QUERY, POOL, RprsRule(hits=3, k1=1.0, b=1.0)).tolist() == pytest.approx([a, b, c])


def test_sentences_as_near_as_the_last_hit_are_hits_so_the_order_of_candidates_decides_nothing():
    twins = [torch.stack([EAST, WEST]), torch.stack([EAST, WEST, WEST])]
    there, back = (
        rprs_scores(EAST[None], SentencePool.of(order), RprsRule(hits=1)).tolist() for order in (twins, twins[::-1])
    )
    assert there == back[::-1] == pytest.approx([1 / 2, 1 / 3])


@pytest.fixture(scope="module", params=[RprsMatcher, frequency_matcher])
def rprs(request, backbone) -> RprsMatcher:
    return request.param(backbone)


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


def test_a_query_among_the_candidates_leaves_their_scores_as_they_are(backbone, encoded):
    # without frequencies: they know the candidates' mean length, to which it would add
    rprs = RprsMatcher(backbone)
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


def test_both_rules_open_by_name(backbone):
    assert load("rprs", backbone).rule == RprsRule() and load("rprs-frequency", backbone).rule.k1 == 1.5
