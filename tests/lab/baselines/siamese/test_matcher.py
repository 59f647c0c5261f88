"""Every baseline as a matcher, with tiny random models."""

import json
import warnings

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents import read_text_string
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.baselines.siamese.matcher import VectorMatcher
from longmatch.lab.models import SIAMESE
from tests.lab.baselines.siamese.tiny_baselines import KINDS, tiny_matcher, tokens_of


@pytest.fixture(scope="module", params=KINDS)
def matcher(request, tiny_bert):
    return tiny_matcher(request.param, tiny_bert)


def test_every_baseline_opens_by_its_name():
    assert set(KINDS) == {model.name for model in SIAMESE}


def test_a_document_is_encoded_alike_alone_and_among_others(matcher, three):
    for alone, among in zip([matcher.encode([d])[0] for d in three], matcher.encode(three), strict=True):
        assert torch.allclose(alone.vector, among.vector, atol=1e-5)
        assert torch.allclose(alone.parts, among.parts, atol=1e-5)


def test_documents_encoded_in_several_rounds_are_encoded_alike(matcher, three, monkeypatch):
    before = matcher.collect(matcher.encode(three))
    monkeypatch.setattr("longmatch.lab.baselines.siamese.matcher.VectorMatcher.tokens_per_batch", 10)
    done: list[int] = []
    assert torch.allclose(matcher.collect(matcher.encode(three, done.append)), before, atol=1e-5) and done == [1, 1, 1]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "dssm"])  # its layers are not linear
def test_the_parts_of_the_sentences_add_up_to_the_vector(kind, tiny_bert, three):
    for encoding in tiny_matcher(kind, tiny_bert).encode(three):
        assert torch.allclose(encoding.parts.sum(0), encoding.vector, atol=1e-5)


def test_documents_are_read_to_their_end_without_a_word(matcher, three):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        match = matcher.compare(*three[:2])
    assert (match.coverage.a, match.coverage.b) == (1.0, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_shows_in_the_coverage_and_is_said_once(kind, tiny_bert, three):
    limited = tiny_matcher(kind, tiny_bert, max_tokens=100)
    with pytest.warns(LongmatchWarning, match="reads only the first 100 tokens") as said:
        found = limited.encode(three)
        limited.encode(three)
    assert len(said) == 1
    lengths = [len(tokens) for tokens in tokens_of(three, tiny_bert)]
    assert [e.coverage for e in found] == pytest.approx([100 / n for n in lengths])


def test_the_score_is_the_cosine_and_the_probability_the_learned_chance(matcher, three):
    a, b = matcher.encode(three[:2])
    cosine = float(a.vector @ b.vector)
    match = matcher.explain(a, b)
    assert matcher.score(a, matcher.collect([a, b])) == pytest.approx([1.0, cosine], abs=1e-5)
    assert match.score == pytest.approx(max(0.0, cosine), abs=1e-6)
    assert match.probability == pytest.approx(1 / (1 + np.exp(-10 * (cosine - 0.5))), abs=1e-5)


def test_a_document_with_itself_scores_one_at_every_level(matcher, three):
    match = matcher.compare(three[0], three[0])
    assert match.score == pytest.approx(1.0, abs=1e-5)
    filled = np.diag(match.passages.scores) > 0
    assert filled.any() and np.diag(match.passages.scores)[filled] == pytest.approx(1.0, abs=1e-4)


def test_contributions_sum_to_one_and_passages_are_sentences_of_the_text(matcher, three):
    a, b = matcher.encode(three[:2])
    match = matcher.explain(a, b)
    assert sum(x.contribution for x in match.alignments) == pytest.approx(1.0)
    for x in match.alignments:
        assert x.a.text == three[0].text[x.a.start : x.a.end] and x.b.text == three[1].text[x.b.start : x.b.end]
    gains = [(mine.parts @ theirs.vector).clamp(min=0) for mine, theirs in ((a, b), (b, a))]
    carried = dict.fromkeys(a.sentences.starts.tolist(), 0.0)
    for x in match.alignments:
        carried[x.a.start] += x.contribution
    own = float(gains[0].max() / (gains[0].sum() + gains[1].sum()))
    assert carried[int(a.sentences.starts[gains[0].argmax()])] >= own - 1e-6
    assert match.at("sections").scores.shape == (len(match.sections.rows), len(match.sections.columns))


def test_a_saved_model_opens_with_longmatch_load_and_ranks_alike(matcher, three, examples, tmp_path):
    matcher.model.config.threshold = 0.25
    matcher.model.save_pretrained(tmp_path)
    matcher.tokenizer.save_pretrained(tmp_path)
    (tmp_path / "longmatch.json").write_text(json.dumps({"model": matcher.name}))
    again = longmatch.load(str(tmp_path))
    assert isinstance(again, VectorMatcher) and again.threshold == 0.25 and type(again.model) is type(matcher.model)
    again.precision = "float32"
    others = list(examples.values())[:6]
    assert [hit.id for hit in again.rank(three[0], others)] == [hit.id for hit in matcher.rank(three[0], others)]
    assert matcher.name in KINDS


@pytest.mark.parametrize("kind", ["han", "smash"])
def test_attention_weighs_sentences_and_the_words_in_them(kind, tiny_bert, three):
    found = tiny_matcher(kind, tiny_bert).attention(three[0], words=1000)
    assert sum(s.weight for s in found) == pytest.approx(1.0, abs=1e-5)
    for sentence in found:
        assert sum(weight for _, weight in sentence.words) == pytest.approx(1.0, abs=1e-5)
        text = three[0].readable[sentence.passage.start : sentence.passage.end]
        assert sorted(word for word, _ in sentence.words) == sorted(text.split())
        weights = [weight for _, weight in sentence.words]
        assert weights == sorted(weights, reverse=True)


def test_a_model_without_attention_says_so(tiny_bert, three):
    with pytest.raises(LongmatchError, match="Train han or smash"):
        tiny_matcher("dssm", tiny_bert).attention(three[0])


def test_a_text_of_one_word_is_read(matcher):
    a, b = read_text_string("Snow.", "a"), read_text_string("漢.", "b")
    assert 0 <= matcher.compare(a, b).score <= 1


def test_a_folder_of_another_kind_is_an_error_of_one_sentence(tiny_bert, tmp_path):
    for folder in (tiny_bert, tmp_path):
        with pytest.raises(LongmatchError, match="cannot be opened") as error:
            VectorMatcher.load(folder)
        assert "\n" not in str(error.value)
