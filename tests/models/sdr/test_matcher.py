"""SDR as a matcher, over the packaged backbone."""

import numpy as np
import pytest

from longmatch.errors import LongmatchError
from longmatch.models.sdr.matcher import SdrMatcher, section_matcher
from longmatch.models.sdr.score import sdr_scores

NAMES = (
    "pear-block-season-trial.md",
    "when-to-water-fruit-trees.html",
    "the-queue-and-the-ledger.html",
    "given-out-column.md",
)


@pytest.fixture(scope="module")
def sdr(matcher) -> SdrMatcher:
    return SdrMatcher(matcher.backbone)


@pytest.fixture(scope="module")
def encoded(sdr, examples):
    return sdr.encode([examples[name] for name in NAMES])


def test_the_vectors_are_grouped_by_the_documents_paragraphs(encoded, examples):
    for encoding, name in zip(encoded, NAMES, strict=True):
        lengths = [len(p.sentences) for p in examples[name].running]
        assert np.diff(encoding.paragraphs.paragraphs).tolist() == lengths


def test_by_sections_they_are_grouped_by_the_documents_sections(matcher, encoded):
    by_section = section_matcher(matcher.backbone)
    for encoding in encoded:
        sections = by_section.lay_out(encoding.sentences, encoding.paragraphs.vectors).paragraphs
        assert sections.paragraphs.tolist() == encoding.sentences.sections.offsets.tolist()


def test_the_score_is_that_of_the_equations(sdr, encoded):
    query, *others = encoded
    collection = sdr.collect(others)
    assert sdr.score(query, collection).tolist() == sdr_scores(query.paragraphs, collection).tolist()


def test_what_belongs_together_ranks_first(sdr, examples):
    query, *others = (examples[name] for name in NAMES)
    assert sdr.rank(query, others)[0].id == NAMES[1]


def test_a_lone_pair_scores_1_with_itself_and_less_with_others_from_either_side(sdr, encoded):
    a, b, other, _ = encoded
    assert sdr.explain(a, a).score == pytest.approx(1, abs=1e-6)
    assert sdr.explain(a, other).score < sdr.explain(a, b).score < 1
    assert sdr.explain(a, b).score == pytest.approx(sdr.explain(b, a).score, abs=1e-6)


def test_contributions_sum_to_1_and_passages_stand_where_they_say(sdr, encoded):
    match = sdr.explain(encoded[0], encoded[1])
    assert sum(x.contribution for x in match.alignments) == pytest.approx(1)
    for x in match.alignments:
        assert x.a.text == match.a.text[x.a.start : x.a.end] and x.b.text == match.b.text[x.b.start : x.b.end]


def test_symmetric_ranking_scores_both_directions(matcher, encoded):
    symmetric = SdrMatcher(matcher.backbone, symmetric=True)
    there = symmetric.score(encoded[0], symmetric.collect([encoded[1]]))
    back = symmetric.score(encoded[1], symmetric.collect([encoded[0]]))
    assert there.tolist() == pytest.approx(back.tolist(), abs=1e-5)


def test_one_document_alone_is_not_its_trade(sdr, examples):
    with pytest.raises(LongmatchError, match="compares two documents only"):
        sdr.within(examples[NAMES[0]])
