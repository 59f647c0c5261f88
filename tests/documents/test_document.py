"""Whatever the text: parts in order, without overlap, and nothing lost."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.documents import Document, Draft
from longmatch.documents.html import draft_html
from longmatch.documents.markdown import draft_markdown
from longmatch.documents.text import draft_text
from tests.effort import tried

WORDS = st.sampled_from(
    ["The bridge", "is old.", "Fig.", "3", "e.g.", "It rains!", "INTRODUCTION", "1. One", "2.3 Two", "IV. LAW", "=====",
     "-----", "# Head", "## Sub ##", "- item", "* item", "> quote", "```", "    code", "| a | b |", "|---|---|",
     "[^1]: note", "References", "本院认为。", "第一章", "😀", "<b>x</b>", "<!--", "-->", "\u3000", "\t",
     "  ", "\\", "et al.", "---", "title: x"]
)  # fmt: skip
BREAKS = st.sampled_from([" ", "\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\x0c", "\u2028"])
TEXTS = st.lists(st.tuples(WORDS | st.text(max_size=12), BREAKS), max_size=40).map(
    lambda parts: "".join(a + b for a, b in parts)
)


def check(document: Document) -> None:
    assert [s.start for s in document.sections] == sorted(s.start for s in document.sections)
    for before, after in pairwise(document.sections):
        assert before.end <= after.start
    for section in document.sections:
        position = section.start
        for paragraph in section.paragraphs:
            assert position <= paragraph.start < paragraph.end <= section.end
            position = paragraph.end
            check_sentences(document.readable, paragraph)
    assert len(document.readable) == len(document.text)


def check_sentences(text, paragraph):
    position, lost = paragraph.start, ""
    for sentence in paragraph.sentences:
        assert position <= sentence.start < sentence.end <= paragraph.end
        assert sentence.of(text) == sentence.of(text).strip()
        lost += text[position : sentence.start]
        position = sentence.end
    assert not (lost + text[position : paragraph.end]).strip()


@given(TEXTS)
@settings(max_examples=tried(100), deadline=None)
def test_plain_text_is_cut_in_order_and_no_letter_of_it_is_lost(text):
    draft = draft_text(text)
    check(draft.document("a"))
    assert draft.text == text
    position, lost = 0, ""
    for block in draft.blocks:
        lost += text[position : block.start]
        position = block.end
    assert not any(map(str.isalnum, lost + text[position:]))


@given(TEXTS)
@settings(max_examples=tried(100), deadline=None)
def test_markdown_is_cut_in_order(text):
    draft = draft_markdown(text)
    check(draft.document("a"))
    assert draft.text == text


@given(TEXTS)
@settings(max_examples=tried(40), deadline=None)
def test_html_is_cut_in_order(text):
    check(draft_html(f"<h1>{text}</h1><p>{text}<table><tr><td>{text}<td>{text}</table>{text}").document("a"))


@given(st.lists(st.text(alphabet="abc \n.", max_size=30), max_size=8))
@settings(max_examples=tried(40), deadline=None)
def test_paragraphs_given_to_a_draft_are_found_again(paragraphs):
    draft = Draft()
    for paragraph in paragraphs:
        draft.paragraph(paragraph)
    document = draft.document("a")
    check(document)
    assert [p.of(document.text) for p in document.paragraphs] == [p.strip() for p in paragraphs if p.strip()]


@pytest.mark.parametrize("draft", [draft_text, draft_markdown])
def test_no_letter_of_ordinary_prose_is_lost(draft):
    text = "A Title\n\nSome words here.\nMore words.\n\n- a point\n- another\n\nThe end of it."
    document = draft(text).document("a")
    kept = " ".join([s.heading for s in document.sections] + [p.of(text) for p in document.paragraphs])
    assert [w for w in text.split() if w != "-"] == [w for w in kept.split() if w != "-"]
