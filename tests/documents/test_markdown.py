"""Markdown: blocks point into the file."""

import time

import pytest

from longmatch.documents.markdown import draft_markdown
from tests.documents.shapes import kinds, outline, sentences


def test_headings_of_both_styles_are_sections_without_their_marks(opened):
    document = opened("a.md", "# The *first* [one](http://a.b) #\n\nText one.\n\nSecond\n------\n\nText two.\n")
    assert outline(document) == [(1, "The first one", ["Text one."]), (2, "Second", ["Text two."])]


def test_the_text_is_the_file_itself_and_paragraphs_its_characters(opened):
    content = "# T\r\n\r\nSome **bold** text\r\nthat wraps. More.\r\n"
    document = opened("a.md", content)
    assert document.text == content
    assert sentences(document) == ["Some **bold** text\r\nthat wraps.", "More."]


def test_front_matter_gives_the_title_and_is_no_text(opened):
    document = opened("a.markdown", '---\ntitle: "A fine day"\ntags: [x]\n---\n\nIt was fine.\n')
    assert (document.title, kinds(document)) == ("A fine day", [("text", "It was fine.")])


def test_a_rule_at_the_top_is_not_front_matter(opened):
    assert kinds(opened("a.md", "---\n\nIt was fine.\n")) == [("text", "It was fine.")]


def test_each_item_of_a_list_is_a_paragraph_without_its_bullet(opened):
    document = opened("a.md", "- one\n  goes on\n- two\n\n  its second paragraph\n\n1. three\n   - nested\n")
    assert [words for _, words in kinds(document)] == [
        "one\n  goes on",
        "two",
        "its second paragraph",
        "three",
        "nested",
    ]


def test_code_tables_footnotes_captions_and_references_are_told_apart(opened):
    content = (
        "Text.\n\n```python\nx = 1\n```\n\n    y = 2\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[^1]: A note on this.\n\n"
        "**Table 1:** The numbers.\n\n## References\n\n- Doe 2001.\n"
    )
    assert kinds(opened("a.md", content)) == [
        ("text", "Text."),
        ("code", "x = 1"),
        ("code", "y = 2"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("footnote", "[^1]: A note on this."),
        ("caption", "**Table 1:** The numbers."),
        ("reference", "Doe 2001."),
    ]


def test_a_quotation_is_a_paragraph(opened):
    assert kinds(opened("a.md", "> Quoted words\n> go on.\n")) == [("text", "Quoted words\n> go on.")]


def test_html_comments_are_left_out_and_html_text_is_kept(opened):
    content = "<!-- hidden -->\n\n<p>Shown words.</p>\n\nText.\n"
    assert kinds(opened("a.md", content)) == [("text", "<p>Shown words.</p>"), ("text", "Text.")]


def test_a_hash_in_code_is_no_heading():
    draft = draft_markdown("```\n# no heading\n```\n\nText.\n")
    assert [b.kind for b in draft.blocks] == ["code", "text"]


def test_deep_nesting_is_read(opened):
    assert kinds(opened("a.md", "> " * 60 + "deep words")) == [("text", "deep words")]


def test_html_that_is_only_an_unclosed_comment_or_script_is_no_text():
    draft = draft_markdown("Text.\n\n<div>\n<!-- never closed\n\n<div>\n<script>let x = 1\n\nMore.\n")
    assert [b.of(draft.text) for b in draft.blocks] == ["Text.", "More."]


@pytest.mark.parametrize("unclosed", ["<!--", "<script ", "<p ", "<"])
def test_html_that_is_never_closed_is_read_in_time_linear_in_its_length(unclosed: str):
    start = time.process_time()
    draft_markdown("<p>\n" + unclosed * 40_000)
    assert time.process_time() - start < 5
