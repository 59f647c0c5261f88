"""SMITH as a matcher, with a tiny random model."""

import json
import warnings

import numpy as np
import pytest
import torch

import longmatch
from longmatch.documents import Draft
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab import explanation
from longmatch.lab.evaluation.scoring.pairs import scorer_of
from longmatch.lab.evaluation.scoring.sentences import VectorScorer
from longmatch.lab.papers.smith.matcher import SmithMatcher, contributions
from tests.lab.papers.smith.tiny_smith import tiny_matcher

PAIR = ("coming-back-slowly.md", "the-stream-that-turned.md")


@pytest.fixture(scope="module")
def pair(examples):
    return [examples[name] for name in PAIR]


@pytest.fixture(scope="module")
def matcher(tiny_bert):
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="module")
def match(matcher, pair):
    return matcher.compare(*pair)


def test_a_document_is_encoded_alike_alone_and_among_others(matcher, pair, examples):
    alone = matcher.encode([pair[0]])[0]
    among = matcher.encode([examples["parish-council-minutes-march.txt"], *pair])[1]
    assert torch.allclose(alone.vector, among.vector, atol=1e-5)
    assert torch.allclose(alone.vectors, among.vectors, atol=1e-5)


def test_documents_encoded_in_several_rounds_are_encoded_alike(matcher, pair, monkeypatch):
    before = [e.vector for e in matcher.encode(pair)]
    monkeypatch.setattr("longmatch.lab.matchers.TrainedMatcher.tokens_per_batch", 1)
    monkeypatch.setattr("longmatch.lab.papers.smith.matcher.TOKENS", 10)
    done: list[int] = []
    after = [e.vector for e in matcher.encode(pair, done.append)]
    assert torch.allclose(torch.stack(before), torch.stack(after), atol=1e-5) and done == [1, 1]


def test_a_document_within_the_limit_is_read_to_its_end(matcher, pair):
    for text, encoding in zip(pair, matcher.encode(pair), strict=True):
        assert encoding.coverage == 1.0 and encoding.blocks.ends[-1] == list(text.sentences)[-1].end


def test_what_is_not_read_shows_in_the_coverage_and_is_said_once(tiny_bert, pair):
    short, whole = tiny_matcher(tiny_bert, max_blocks=6), tiny_matcher(tiny_bert)
    with pytest.warns(LongmatchWarning, match="first 6 blocks"):
        found = short.compare(*pair).coverage
    read, all_of_it = (
        [int(e.blocks.lengths[:6].sum()) for e in whole.encode(pair)],
        [int(e.blocks.lengths.sum()) for e in whole.encode(pair)],
    )
    assert (found.a, found.b) == pytest.approx((read[0] / all_of_it[0], read[1] / all_of_it[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        short.compare(*pair)


def test_the_tails_of_long_sentences_that_are_cut_are_not_covered(tiny_bert, pair):
    with pytest.warns(LongmatchWarning):
        found = tiny_matcher(tiny_bert, cut_long=True).compare(*pair).coverage
    assert 0.3 < found.a < 1


def test_the_score_is_the_cosine_of_the_document_vectors(matcher, pair, match):
    a, b = matcher.encode(pair)
    assert matcher.score(a, matcher.collect([a, b])) == pytest.approx([1.0, float(a.vector @ b.vector)], abs=1e-5)
    assert match.score == pytest.approx(max(0.0, float(a.vector @ b.vector)), abs=1e-5)
    assert match.probability is None  # it has not learned from pairs


def test_a_document_with_itself_scores_one_at_every_level(matcher, pair):
    match = matcher.explain(*matcher.encode([pair[0], pair[0]]))
    assert match.score == pytest.approx(1.0, abs=1e-5)
    assert np.diag(match.sections.scores) == pytest.approx(1.0, abs=1e-5)
    assert np.diag(match.passages.scores) == pytest.approx(1.0, abs=1e-5)


def test_blocks_are_compared_by_the_sentence_level_s_vectors(matcher, pair, match):
    a, b = matcher.encode(pair)
    assert match.passages.scores == pytest.approx((a.vectors @ b.vectors.T).clamp(0, 1).numpy(), abs=1e-6)
    assert match.at("chunks").rows == match.passages.rows and len(match.passages.rows) == len(a.vectors)
    for best in match.best(5):
        assert best.a.text == pair[0].text[best.a.start : best.a.end]


def test_sections_are_what_their_blocks_find_in_each_other(matcher, pair, match):
    a, b = matcher.encode(pair)
    cosines = (a.vectors @ b.vectors.T).clamp(0, 1).numpy()
    rows, columns = np.unique(a.blocks.section), np.unique(b.blocks.section)
    for i, mine in enumerate(rows):
        for j, theirs in enumerate(columns):
            square = cosines[np.ix_(a.blocks.section == mine, b.blocks.section == theirs)]
            expected = np.concatenate([square.max(1), square.max(0)]).mean()
            assert match.sections.scores[i, j] == pytest.approx(expected, abs=1e-5)
    assert match.sections.rows[0] == pair[0].sections[int(rows[0])].heading or match.sections.rows[0] == "(opening)"


def without(matcher, encoding, left_out):
    """The document's vector without some blocks; the others stay at their places."""
    kept = [i for i in range(len(encoding.vectors)) if i not in left_out]
    if not kept:
        return torch.zeros_like(encoding.vector)
    with torch.no_grad():
        return matcher.model.aggregate(encoding.vectors[kept], torch.tensor(kept), torch.tensor([len(kept)])).documents[
            0
        ]


def slow_contributions(matcher, mine, theirs, runs):
    found = []
    for run in runs:
        others = [i for i in range(len(mine.vectors)) if i not in run]
        gain = mine.vector @ theirs.vector - without(matcher, mine, run) @ theirs.vector
        gain = (gain + without(matcher, mine, others) @ theirs.vector) / 2
        found += [max(0.0, float(gain)) / len(run)] * len(run)
    return found


def test_a_block_contributes_the_mean_of_what_it_takes_away_and_what_it_brings_alone(matcher, pair):
    a, b = matcher.encode(pair)
    a = type(a)(a.blocks, a.vectors[:40], without(matcher, a, range(40, len(a.vectors))), 1.0)
    expected = slow_contributions(matcher, a, b, [[i] for i in range(40)])
    assert max(expected) > 0
    assert contributions(matcher.model, a, b) == pytest.approx(expected, abs=1e-5)


def test_neighbours_are_left_out_together_where_there_are_very_many_blocks(matcher, pair, monkeypatch):
    monkeypatch.setattr(explanation, "MOST_RUNS", 4)
    a, b = matcher.encode(pair)
    runs = [run.tolist() for run in np.array_split(np.arange(len(a.vectors)), 4)]
    assert contributions(matcher.model, a, b) == pytest.approx(slow_contributions(matcher, a, b, runs), abs=1e-5)


def test_contributions_sum_to_one_and_name_blocks_most_like_each_other(match):
    assert sum(alignment.contribution for alignment in match.alignments) == pytest.approx(1.0)
    shares = [alignment.contribution for alignment in match.alignments]
    assert shares == sorted(shares, reverse=True)


def test_a_document_without_running_text_is_an_error_of_one_sentence(matcher, pair):
    with pytest.raises(LongmatchError, match="empty holds no running text"):
        matcher.compare(pair[0], Draft().document("empty"))


def test_a_folder_with_its_record_opens_by_name_and_scores_alike(matcher, pair, tmp_path):
    matcher.model.save_pretrained(tmp_path)
    matcher.tokenizer.save_pretrained(tmp_path)
    (tmp_path / "longmatch.json").write_text(json.dumps({"model": "smith", "seed": 0}))
    for name in (str(tmp_path), f"smith@{tmp_path}"):
        opened = longmatch.load(name)
        assert isinstance(opened, SmithMatcher) and opened.name == name
        opened.precision = "float32"
        assert opened.compare(*pair).score == pytest.approx(matcher.compare(*pair).score, abs=1e-5)


def test_evaluation_scores_it_by_stored_vectors(matcher):
    assert isinstance(scorer_of(matcher), VectorScorer)


@pytest.mark.parametrize("content", [None, "{}", '{"model_type": "bert"}', "no json"])
def test_a_folder_that_holds_no_smith_model_is_an_error_of_one_sentence(tmp_path, content):
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(LongmatchError, match="cannot be opened"):
        SmithMatcher.load(tmp_path)
