"""Match-Ignition and OPT-Match as matchers: what they read of two documents, and that it is what was selected."""

from functools import partial

import numpy as np
import pytest
import torch

from longmatch.documents.read import read_text_string
from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.sentence_filters import (
    IgnitionMatcher,
    PageRankSelection,
    TransportMatcher,
    TransportSelection,
)
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.words import TokenWords, WordMatrixCache
from longmatch.models.loading import load
from longmatch.units import tokenize
from tests.lab.baselines.cross.tiny_cross import enlarge, made_tokens

RIVER = ["The river rose over the bank.", "Water of the river stood at the bank.", "The bank of the river broke."]
BIRD = ["A bird sings in the morning.", "Its feathers are green."]
STONE = ["Towers of stone were cut.", "He was an old mason."]
MATCHERS = {"match-ignition": IgnitionMatcher, "opt-match": TransportMatcher}
KINDS = [
    PageRankSelection,
    TransportSelection,
    partial(TransportSelection, share=1.0),
    partial(PageRankSelection, most=2),
]
pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")


@pytest.fixture(scope="module")
def tokenizer(tiny_bert):
    return open_tokenizer(str(tiny_bert)).backend_tokenizer


@pytest.fixture(scope="module")
def words(tokenizer):
    return WordMatrixCache(TokenWords.of(tokenizer).words)


@pytest.fixture(scope="module")
def pair(tokenizer):
    """The river is sentences 2 to 4 of the one and 0 to 2 of the other."""
    return [tokenize(read_text_string(" ".join(text)), tokenizer) for text in (BIRD + RIVER, RIVER + STONE)]


def made(backbone, kind, **settings):
    torch.manual_seed(0)
    model = kind.Model.from_backbone(str(backbone), **settings).eval()
    enlarge(model, 0.3)
    return kind(model, open_tokenizer(str(backbone)), "float32")


def sides(selection, pair, limit=10**6):
    (found,) = selection.choose(*pair, limit, [0], 0)
    return found.a.tolist(), found.b.tolist()


def test_the_most_central_sentences_are_those_about_what_both_speak_of(words, pair):
    assert sides(PageRankSelection(words, most=3), pair) == ([2, 3, 4], [0, 1, 2])


def test_sentences_of_the_same_words_are_carried_over_first(words, pair):
    assert sides(TransportSelection(words, share=0.6), pair) == ([2, 3, 4], [0, 1, 2])


def test_a_share_of_one_carries_every_sentence(words, pair):
    assert sides(TransportSelection(words, share=1.0), pair) == ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [16, 24, 32])
def test_what_is_selected_keeps_the_reading_order_and_fits(words, pair, kind, limit):
    for tokens, numbers in zip(pair, sides(kind(words), pair, limit), strict=True):
        assert numbers == sorted(set(numbers)) and numbers
        assert np.diff(tokens.sentence_offsets)[numbers].sum() <= limit


@pytest.mark.parametrize("kind", KINDS)
def test_every_view_and_seed_selects_the_same(words, pair, kind):
    one, other = (kind(words).choose(*pair, 20, views, seed) for views, seed in (([0, 1], 0), ([4], 7)))
    assert [str(view) for view in one] == [str(other[0])] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_of_documents_without_sentences_nothing_is_selected(words, kind):
    assert sides(kind(words), [made_tokens(), made_tokens()]) == ([], [])


@pytest.mark.parametrize("name", list(MATCHERS))
def test_a_saved_model_opens_with_its_settings_and_reads_what_it_selects(tiny_bert, examples, tmp_path, name):
    filtering = {"max_sentences": 3, "word_filter": True, "words_kept": 0.7}
    own = filtering if name == "match-ignition" else {"share": 0.1}
    matcher = made(tiny_bert, MATCHERS[name], **own)
    matcher.model.save_pretrained(tmp_path)
    matcher.tokenizer.save_pretrained(tmp_path)
    again = load(f"{name}@{tmp_path}")
    assert type(again) is MATCHERS[name]
    assert all(getattr(again.model.config, key) == value for key, value in own.items())
    a, b = list(examples.values())[:2]
    tokens = [tokenize(d, matcher.tokenizer.backend_tokenizer) for d in (a, b)]
    (chosen,) = matcher.layout.selection.choose(*tokens, matcher.layout.limit, [0], 0)
    match = matcher.compare(a, b)
    read = np.diff(tokens[0].sentence_offsets)[chosen.a].sum()
    assert match.coverage.a == pytest.approx(min(matcher.layout.limit, read) / len(tokens[0])) and match.coverage.a < 1
    assert match.score == pytest.approx(matcher.score_pairs([(a, b)])[0], abs=1e-5)
    assert sum(one.contribution for one in match.alignments) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("name", list(MATCHERS))
def test_the_model_has_to_be_trained_first(name):
    with pytest.raises(LongmatchError, match=f"longmatch train {name} --data DIR"):
        load(name)
