"""The cross-encoder as a matcher, with tiny random models."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from longmatch.documents import Draft
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.baselines.cross.encoder import margins
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.selection import SelectedSentences, Selection
from longmatch.matching.matcher import rerank
from longmatch.models.loading import load
from longmatch.units import tokenize
from tests.lab.baselines.cross.tiny_cross import tiny_matcher

PAIR = ("coming-back-slowly.md", "the-stream-that-turned.md")
pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")


class Drawn(Selection):
    """Three sentences of either document, drawn anew for each view and seed."""

    def choose(self, a, b, limit, views, seed):
        def some(tokens, view):
            count = len(tokens.sentence_offsets) - 1
            return np.sort(np.random.default_rng([seed, view]).permutation(count)[:3])

        return [SelectedSentences(some(a, view), some(b, view)) for view in views]


class DrawnMatcher(CrossMatcher):
    """Reads drawn sentences."""

    def __init__(self, *opened):
        super().__init__(*opened)
        self.layout = replace(self.layout, selection=Drawn())


@pytest.fixture(scope="module")
def pair(examples):
    return [examples[name] for name in PAIR]


@pytest.fixture(scope="module")
def matcher(tiny_bert):
    return tiny_matcher(tiny_bert)


def text(*sentences):
    draft = Draft()
    draft.paragraph(" ".join(sentences))
    return draft.document("made", "made", "")


def test_the_score_is_the_chance_that_the_network_gives_the_openings(matcher, pair):
    a, b = (tokenize(d, matcher.tokenizer.backend_tokenizer).ids[:30].tolist() for d in pair)
    ids = torch.tensor([[2, *a, 3, *b, 3]])
    types = torch.tensor([[0] * 32 + [1] * 31])
    with torch.no_grad():
        wanted = matcher.model(ids, torch.ones_like(ids), types).logits.softmax(1)[0, 1].item()
    match = matcher.compare(*pair)
    assert match.score == pytest.approx(wanted, abs=1e-5) and match.probability == match.score
    assert matcher.score_pairs([tuple(pair)])[0] == pytest.approx(wanted, abs=1e-5)


def test_pairs_score_alike_together_in_rounds_and_alone(matcher, examples, monkeypatch):
    documents = list(examples.values())[:6]
    pairs = [(documents[i], documents[j]) for i in range(3) for j in range(6)]
    together = matcher.score_pairs(pairs)
    alone = np.concatenate([matcher.score_pairs([pair]) for pair in pairs])
    monkeypatch.setattr("longmatch.lab.baselines.cross.matcher.CPU_PAIRS", 4)
    done: list[int] = []
    rounds = matcher.score_pairs(pairs, done.append)
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together, rounds, atol=1e-5)
    assert done == [4, 4, 4, 4, 2] and len(set(together.round(6))) > 10


def test_ranking_orders_by_the_score_of_each_pair(matcher, examples, pair):
    documents = list(examples.values())[:8]
    hits = matcher.rank(pair[0], [*documents, pair[0]], k=3)
    found = matcher.score_pairs([(pair[0], other) for other in documents])
    scores = {d.id: float(score) for d, score in zip(documents, found, strict=True)}
    others = [id for id in scores if id != pair[0].id]
    assert [hit.id for hit in hits] == sorted(others, key=lambda id: (-scores[id], id))[:3]
    assert [hit.score for hit in hits] == pytest.approx([scores[hit.id] for hit in hits], abs=1e-5)
    assert all(hit.why for hit in hits)


def test_what_is_not_read_shows_in_the_coverage_and_is_said_once(tiny_bert, pair):
    matcher = tiny_matcher(tiny_bert, side_tokens=20)
    with pytest.warns(LongmatchWarning, match="reads no more than 20 tokens of a document"):
        match = matcher.compare(*pair)
    for document, share in zip(pair, (match.coverage.a, match.coverage.b), strict=True):
        assert share == pytest.approx(20 / len(tokenize(document, matcher.tokenizer.backend_tokenizer)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matcher.score_pairs([tuple(pair)])


def test_short_documents_are_read_whole_without_a_word(matcher, tiny_bert):
    fresh = tiny_matcher(tiny_bert)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        match = fresh.compare(text("A bank holds water."), text("The bird sings.", "It flies."))
    assert (match.coverage.a, match.coverage.b) == (1.0, 1.0)


def test_a_pair_read_in_views_scores_the_largest_or_the_mean(tiny_bert, pair):
    def score(**settings):
        return tiny_matcher(tiny_bert, DrawnMatcher, **settings).score_pairs([tuple(pair)])[0]

    def logit(chance):
        return np.log(chance / (1 - chance))

    matcher = tiny_matcher(tiny_bert, DrawnMatcher, views=3)
    tokens = tuple(tokenize(d, matcher.tokenizer.backend_tokenizer) for d in pair)
    each = margins(matcher.model, matcher.layout.lay_out([tokens], [0, 1, 2])).numpy()
    assert len(set(each.round(4))) == 3
    assert logit(score(views=3, pool="max")) == pytest.approx(each.max(), abs=1e-4)
    assert logit(score(views=3, pool="mean")) == pytest.approx(each.mean(), abs=1e-4)


def test_by_task_the_largest_view_tells_a_match_and_the_mean_ranks(tiny_bert, pair):
    def scores(pool, **asked):
        made = tiny_matcher(tiny_bert, DrawnMatcher, views=3, pool=pool)
        return made.score_pairs([tuple(pair)], **asked)[0]

    assert scores("by-task") == scores("max") != scores("mean") == scores("by-task", for_ranking=True)
    assert scores("max", for_ranking=True) == scores("max") and scores("mean", for_ranking=True) == scores("mean")
    matcher, (query, other) = tiny_matcher(tiny_bert, DrawnMatcher, views=3, pool="by-task"), pair
    assert matcher.compare(query, other).score == pytest.approx(scores("max"), abs=1e-5)
    assert matcher.rank(query, [other])[0].score == pytest.approx(scores("mean"), abs=1e-5)
    assert rerank(matcher, query, [other], 1, 1)[0].score == pytest.approx(scores("mean"), abs=1e-5)


def test_the_same_seed_gives_the_same_score_and_another_seed_another(tiny_bert, pair):
    one, again, other = (
        tiny_matcher(tiny_bert, DrawnMatcher, views=2, seed=seed).score_pairs([tuple(pair)])[0] for seed in (4, 4, 5)
    )
    assert one == again and abs(one - other) > 1e-4


def test_coverage_counts_what_all_views_read(tiny_bert, pair):
    one, three = (tiny_matcher(tiny_bert, DrawnMatcher, views=views).compare(*pair).coverage for views in (1, 3))
    assert one.a < three.a <= 1 and one.b < three.b <= 1


def test_a_document_without_text_is_named(matcher, pair):
    empty = Draft().document("nothing here", "", "")
    with pytest.raises(LongmatchError, match="nothing here holds no running text"):
        matcher.score_pairs([(pair[0], empty)])


def test_no_pairs_have_no_scores(matcher, pair):
    assert len(matcher.score_pairs([])) == 0 and matcher.rank(pair[0], [pair[0]]) == []


def test_a_folder_opens_by_its_rule(matcher, tmp_path, pair):
    matcher.model.save_pretrained(tmp_path)
    matcher.tokenizer.save_pretrained(tmp_path)
    opened = load(f"cross@{tmp_path}")
    assert isinstance(opened, CrossMatcher)
    assert opened.compare(*pair).score == pytest.approx(matcher.compare(*pair).score, abs=1e-2)  # perhaps in bfloat16


def test_a_folder_without_a_model_is_an_error_of_one_sentence(tmp_path):
    with pytest.raises(LongmatchError, match="cannot be opened") as error:
        CrossMatcher.load(tmp_path)
    assert "\n" not in str(error.value)
