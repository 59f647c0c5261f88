"""One document's sections against each other."""

import numpy as np
import pytest

from longmatch.default.explanation import explain_within
from longmatch.documents import read_text_string


@pytest.fixture(scope="module")
def match(matcher, encodings):
    return explain_within(encodings["the-stream-that-turned.md"], matcher.statistics, matcher.name)


def test_the_grid_is_symmetric_and_1_on_its_diagonal(match):
    scores = match.sections.scores
    assert match.sections.rows == match.sections.columns and len(match.sections.rows) > 3
    assert np.allclose(scores, scores.T, atol=1e-6)
    assert np.diag(scores) == pytest.approx(1, abs=1e-5)


def test_passages_come_from_different_sections_the_earlier_first_and_each_pair_once(match):
    sections = match.a.sections
    homes = [[next(i for i, s in enumerate(sections) if s.start <= p.start < s.end) for p in (x.a, x.b)]
             for x in match.alignments]  # fmt: skip
    assert homes and all(first < second for first, second in homes)
    assert len({(x.a.start, x.b.start) for x in match.alignments}) == len(match.alignments)


def test_contributions_sum_to_1(match):
    assert sum(x.contribution for x in match.alignments) == pytest.approx(1)
    assert 0 < match.score < 1


def test_a_document_of_one_long_section_is_compared_by_chunks(matcher):
    sentences = [f"The {word} bank failed and the queue of depositors grew {word} again." for word in
                 ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")]  # fmt: skip
    match = matcher.within(read_text_string(" ".join(sentences * 4), "one section"))
    assert len(match.sections.rows) > 1 and match.score > 0.5 and match.alignments


def test_a_document_of_one_sentence_repeats_nothing(matcher):
    match = matcher.within(read_text_string("The bank closed its doors yesterday.", "one sentence"))
    assert match.sections.scores.shape == (1, 1)
    assert (match.score, match.alignments) == (0.0, ())


def test_chunks_and_sentences_of_one_document_have_their_grids(match, encodings):
    count = len(encodings["the-stream-that-turned.md"])
    assert match.passages.scores.shape == (count, count)
    assert match.at("chunks").rows == match.at("chunks").columns
