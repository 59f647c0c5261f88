"""Comparing documents of a library with what it keeps of them."""

import numpy as np
import pytest

from longmatch.documents.read import read_text_string
from longmatch.library.library import Library
from longmatch.library.settings import LibrarySettings
from longmatch.render.json import to_dict
from tests.library.tiny import write_texts


@pytest.fixture
def filled(library, texts):
    library.add(texts)
    return library


@pytest.mark.parametrize("candidates", [1, 64])
def test_a_comparison_has_the_score_and_the_probability_of_the_ranking(filled, tiny, candidates):
    settings = LibrarySettings(candidates=candidates)  # one candidate of each side, or all documents
    library = Library(filled.address, tiny, settings=settings)
    hits = library.rank("d001.txt", k=7)
    matches = [library.compare("d001.txt", hit.id) for hit in hits]
    assert [match.score for match in matches] == pytest.approx([hit.score for hit in hits], abs=1e-6)
    assert [match.probability for match in matches] == pytest.approx([hit.probability for hit in hits], abs=1e-6)
    assert (len(hits) == 7) == (candidates == 64)


def test_a_comparison_from_outside_has_the_score_and_the_probability_of_the_ranking(filled, tiny):
    document = read_text_string(" ".join(["The river rose over the bank. The harbour was shut."] * 5))
    for library in (filled, Library(filled.address, tiny, settings=LibrarySettings(candidates=1))):
        for hit in library.rank(document, k=3):
            match = library.compare(document, hit.id)
            assert (match.score, match.probability) == pytest.approx((hit.score, hit.probability), abs=1e-6)


def test_a_question_has_no_probability(filled):
    question = read_text_string("The river rose over the bank. The harbour was shut.")
    hits = filled.rank(question, k=3)
    assert len(hits) == 3 and all(hit.probability is None and hit.verdict is None for hit in hits)
    match = filled.compare(question, hits[0].id)
    assert match.probability is None and match.score == pytest.approx(hits[0].score, abs=1e-6)
    assert match.no_verdict == hits[0].no_verdict == "question" and to_dict(match)["verdict"] is None


def test_a_short_document_of_the_library_is_no_question(library, tmp_path):
    library.add(write_texts(tmp_path / "texts", range(14)))
    (tmp_path / "short.txt").write_text("The river rose over the bank.")
    library.add(tmp_path / "short.txt")
    assert all(hit.probability is not None for hit in library.rank("short.txt"))
    assert library.compare("short.txt", "d001.txt").probability is not None


def test_kept_documents_are_compared_without_being_encoded_again(filled, monkeypatch):
    monkeypatch.setattr(type(filled.matcher), "encode", None)
    match = filled.compare("d001.txt", "d002.txt")
    assert (match.a.id, match.b.id, match.model) == ("d001.txt", "d002.txt", "default")
    assert sum(pair.contribution for pair in match.alignments) == pytest.approx(1)


def test_a_document_from_elsewhere_can_be_compared_and_handed_over_encoded(filled):
    document = read_text_string("The river rose over the bank. The harbour was shut.")
    encoding = filled.matcher.encode([document])[0]
    assert filled.compare(encoding, "d001.txt").score == filled.compare(document, "d001.txt").score
    assert [h.id for h in filled.rank(encoding, 3)] == [h.id for h in filled.rank(document, 3)]


def test_within_a_document_its_own_parts_are_compared(filled):
    match = filled.within("d001.txt")
    assert match.a is match.b and match.sections.scores.shape[0] == match.sections.scores.shape[1]


def test_there_is_a_vector_of_length_one_for_every_document(filled):
    ids, vectors = filled.vectors()
    assert sorted(ids) == list(filled)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(ids)), abs=1e-3)
    filled.remove(ids[0])
    assert filled.vectors()[0] == ids[1:]


def test_the_version_changes_with_every_change_of_another_process_too(filled, opened):
    before = filled.version
    assert filled.version == before
    opened().remove("d001.txt")
    assert filled.version != before
