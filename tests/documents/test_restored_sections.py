"""Sections of a stored document, which are restored when they are first asked for."""

import pickle
from dataclasses import replace

import pytest

from longmatch.documents import Document, Paragraph, Section, Sentence
from longmatch.documents.document import RestoredSections

SECTIONS = (
    Section(0, 10, "One", 1, (Paragraph(0, 10, (Sentence(0, 4), Sentence(5, 10)), page=1),)),
    Section(10, 30, "Two", 2, (Paragraph(10, 20, (Sentence(10, 20),)), Paragraph(20, 30, (Sentence(20, 30),), page=3))),
)
READ = Document("a", "A", "x" * 30, SECTIONS, page_breaks=((25, 4),))


def stored(restore) -> Document:
    return replace(READ, sections=RestoredSections(["One", "Two"], [0, 10, 20], [1, 0, 3], restore))


def test_a_document_with_restored_sections_is_the_document() -> None:
    document = stored(lambda: SECTIONS)
    assert document == READ and (document.sections, SECTIONS) == (SECTIONS, document.sections)
    assert document != replace(READ, sections=SECTIONS[:1])
    assert list(document.sections) == list(SECTIONS) and document.sections[1:] == SECTIONS[1:]
    assert document.paragraphs == READ.paragraphs
    assert repr(document) == repr(READ) and repr(document.sections) == repr(SECTIONS)


def test_another_process_gets_plain_sections() -> None:
    sections = pickle.loads(pickle.dumps(stored(lambda: SECTIONS))).sections
    assert isinstance(sections, tuple) and sections == SECTIONS


def test_headings_and_pages_are_known_without_restoring_anything() -> None:
    document = replace(stored(lambda: pytest.fail("restored")), source="elsewhere")
    assert len(document.sections) == 2
    assert [document.heading(number) for number in range(2)] == ["One", "Two"]
    for place in range(-1, 31):
        assert document.page_at(place) == READ.page_at(place)
    assert [READ.page_at(place) for place in (-1, 0, 15, 20, 25)] == [None, 1, None, 3, 4]
