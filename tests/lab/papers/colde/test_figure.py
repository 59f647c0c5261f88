"""The three levels of several documents at once."""

import re

import numpy as np
import pytest

from longmatch.documents.document import Span
from longmatch.lab.papers.colde.matcher import Panel, three_levels, write_grids
from longmatch.matching.match import Grid
from tests.lab.papers.colde.tiny_colde import tiny_matcher

NAMES = ("A · one", "B · <two>")


@pytest.fixture(scope="module")
def matcher(tiny_bert):
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="module")
def encodings(matcher, examples):
    names = ("coming-back-slowly.md", "the-stream-that-turned.md", "given-out-column.md")
    return matcher.encode([examples[name] for name in names])


def test_every_level_holds_the_pairs_of_documents_as_compared_alone(matcher, encodings):
    levels = three_levels(encodings)
    a, b, _ = encodings
    match = matcher.explain(a, b)
    assert levels.documents.scores[0, 1] == pytest.approx(match.score, abs=1e-6)
    assert levels.sections.scores[:2, 2:4] == pytest.approx(match.sections.scores, abs=1e-6)
    mine, theirs = len(a.section_ids), len(b.section_ids)
    assert levels.chunks.scores[:mine, mine : mine + theirs] == pytest.approx(match.passages.scores, abs=1e-6)


def test_every_level_holds_each_document_within_itself(matcher, encodings):
    levels = three_levels(encodings)
    within = matcher.within(encodings[0].document)
    assert levels.sections.scores[:2, :2] == pytest.approx(within.sections.scores, abs=1e-5)
    assert np.diag(levels.chunks.scores) == pytest.approx(1.0, abs=1e-5)


def test_attention_stays_within_a_document(encodings):
    weights = three_levels(encodings).attention.scores
    first, second = (len(e.section_ids) for e in encodings[:2])
    assert weights[:first, :first].sum() == pytest.approx(int((encodings[0].section_ids == 0).sum()), abs=1e-4)
    assert weights[:first, first:].sum() == 0 and weights[first : first + second, :first].sum() == 0


def test_labels_say_which_document_a_part_is_of(encodings):
    levels = three_levels(encodings)
    assert [label[0] for label in levels.documents.rows] == ["A", "B", "C"]
    assert [label[:4] for label in levels.sections.rows] == ["A · ", "A · ", "B · ", "B · ", "C · ", "C · "]
    assert len(levels.chunks.rows) == sum(len(e.section_ids) for e in encodings)


def page(tmp_path, scores):
    spans = (Span(0, 0),) * 2
    grid = Grid(NAMES, NAMES, spans, spans, np.array(scores, dtype=np.float32))
    path = write_grids(tmp_path / "grids.html", "Levels", [Panel("Documents", "A note.", grid)])
    return path.read_text(encoding="utf-8")


def test_every_pair_s_score_is_on_the_page_and_the_diagonal_is_not(tmp_path):
    found = page(tmp_path, [[1.0, 0.37], [0.37, 1.0]])
    assert found.count(">.37<") == 2 and ">1<" not in found
    assert "Documents" in found and "A note." in found


def test_labels_are_escaped_and_nothing_is_loaded(tmp_path):
    found = page(tmp_path, [[1.0, 0.2], [0.2, 1.0]])
    assert "B · &lt;two&gt;" in found and "<two>" not in found
    assert not re.search(r"(src|href)=", found) and "default-src &#39;none&#39;" in found
