"""The lexical matchers."""

import numpy as np
import pytest

from longmatch.documents import read_text_string
from longmatch.documents.markdown import draft_markdown
from longmatch.lexical.matcher import bm25_matcher, phrase_matcher, tfidf_matcher

every_matcher = pytest.mark.parametrize("make", [tfidf_matcher, phrase_matcher, bm25_matcher])


@pytest.fixture
def pair(examples):
    return examples["pear-block-season-trial.md"], examples["when-to-water-fruit-trees.html"]


@every_matcher
def test_a_document_scores_1_with_itself(examples, make):
    document = examples["the-living-edge.html"]
    assert make().compare(document, document).score == pytest.approx(1, abs=1e-9)


@every_matcher
def test_the_order_of_two_documents_does_not_matter(make, pair):
    there, back = make().compare(*pair), make().compare(*reversed(pair))
    assert there.score == pytest.approx(back.score, abs=1e-12)
    assert np.allclose(there.sections.scores, back.sections.scores.T, atol=1e-6)


@every_matcher
def test_contributions_sum_to_1_and_all_of_them_are_lexical(make, pair):
    found = make().compare(*pair).alignments
    assert sum(x.contribution for x in found) == pytest.approx(1)
    assert all(x.lexical == pytest.approx(x.contribution) and x.kind == "keyword" for x in found)


@every_matcher
def test_documents_without_a_common_word_score_0_and_align_nothing(make):
    match = make().compare(read_text_string("Rain fell hard today."), read_text_string("银行倒闭了。存户走了。"))
    assert (match.score, match.alignments, match.terms) == (0.0, (), ())


@every_matcher
def test_chinese_documents_rank_by_what_they_share(make):
    query = read_text_string("银行倒闭了。存户排队取钱。", "query")
    bank, pears = (
        read_text_string("昨天银行倒闭了。存户很担心。", "bank"),
        read_text_string("梨树需要浇水。夏天很热。", "pears"),
    )
    assert [hit.id for hit in make().rank(query, [pears, bank])] == ["bank", "pears"]


def test_the_score_of_a_rank_is_that_of_the_explanation(examples):
    query, *others = list(examples.values())[:8]
    matcher = tfidf_matcher()
    first, *rest = matcher.encode([query, *others])
    collection = matcher.collect(rest)
    explained = [matcher.explain(first, other, collection).score for other in rest]
    assert matcher.score(first, collection).tolist() == pytest.approx(explained, abs=1e-9)


def test_grids_have_a_cell_for_every_pair_of_groups(pair):
    match = tfidf_matcher().compare(*pair)
    for level in ("sections", "chunks", "sentences"):
        grid = match.at(level)
        assert grid.scores.shape == (len(grid.rows), len(grid.columns)) == (len(grid.row_spans), len(grid.column_spans))
    assert match.passages.scores.shape == tuple(len(list(document.sentences)) for document in pair)


def test_phrases_across_a_link_are_spelled():
    a = draft_markdown("The [stone](http://example.org) bridge stood.").document("a")
    b = read_text_string("A stone bridge stood there.", "b")
    assert any("stone bridge" in term.text for term in phrase_matcher().compare(a, b).terms)
