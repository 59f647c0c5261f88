"""A document's sentences and the groups they form."""

import numpy as np
import pytest

from longmatch.documents import Draft
from longmatch.matching.sentences import CHUNK_TOKENS, Sentences


def made(*sections: tuple[str, list[str]]):
    draft = Draft()
    for heading, paragraphs in sections:
        draft.heading(heading)
        for paragraph in paragraphs:
            draft.paragraph(paragraph, "table" if paragraph.startswith("|") else "text")
    return Sentences.of_document(draft.document("made", "The title"))


@pytest.fixture
def sentences() -> Sentences:
    return made(
        ("", ["It rains."]), ("First", ["One. Two three.", "| 1 |", "Four."]), ("Empty", []), ("Last", ["Five six."])
    )


def test_sections_without_running_text_are_no_group(sentences):
    groups = sentences.sections
    assert groups.labels == ("(opening)", "First", "Last")
    assert groups.offsets.tolist() == [0, 1, 4, 5]


def test_a_group_spans_from_its_first_sentence_to_its_last(sentences):
    text = sentences.document.text
    assert [s.of(text) for s in sentences.groups("sections").spans] == [
        "It rains.",
        "One. Two three.\n\n| 1 |\n\nFour.",
        "Five six.",
    ]


def test_paragraphs_are_runs_of_sentences(sentences):
    assert sentences.paragraphs.tolist() == [0, 1, 3, 4, 5]


def test_every_sentence_is_a_group_at_the_lowest_level(sentences):
    assert sentences.groups("sentences").labels == ("(opening) · 1", "First · 2", "First · 3", "First · 4", "Last · 5")


def test_a_passage_knows_its_heading(sentences):
    (passage,) = sentences.passages(np.array([2]))
    assert (passage.text, passage.section) == ("Two three.", "First")
    assert sentences.document.text[passage.start : passage.end] == passage.text


def test_chunks_hold_whole_sentences_of_one_section_and_no_more_tokens_than_fit():
    sentences = made(("A", ["Word " * 100 + "ends. " + "Next " * 150 + "ends. Last."]), ("B", ["Other."]))
    assert sentences.lengths.tolist() == [101, 151, 1, 1]
    assert sentences.chunks.offsets.tolist() == [0, 3, 4]  # 253 words fit into 254
    longer = made(("A", ["Word " * 100 + "ends. " + "Next " * 153 + "ends. Last."]), ("B", ["Other."]))
    assert longer.chunks.offsets.tolist() == [0, 1, 3, 4]
    assert CHUNK_TOKENS == 254


def test_a_document_of_one_section_is_labelled_with_its_title():
    assert made(("", ["One. Two."])).sections.labels == ("The title",)
