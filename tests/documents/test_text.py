"""Plain text: headings told conservatively, paragraphs kept whole."""

import pytest

from longmatch.documents.text import draft_text, is_capitals
from tests.documents.shapes import kinds, outline, sentences

PROSE = "The inspectors looked at every span, and they found that the piers would stand for many years to come."


def blocks(text: str) -> list[tuple[str, str]]:
    return [(b.kind, b.of(text)) for b in draft_text(text).blocks]


def heads(text: str) -> list[str]:
    return [words for kind, words in blocks(text) if kind == "heading"]


def test_the_text_is_the_file_itself(opened):
    content = "A Title\r\n\r\nFirst line\r\nsecond line. Next.\r\n"
    document = opened("a.txt", content)
    assert document.text == content
    assert sentences(document) == ["First line\r\nsecond line.", "Next."]


def test_a_byte_order_mark_is_no_part_of_the_text(opened):
    assert opened("a.txt", b"\xef\xbb\xbfHello there. Yes.").text == "Hello there. Yes."


def test_text_without_headings_is_one_section_of_paragraphs(opened):
    document = opened("a.txt", "It rained all day.\n\nWe stayed in and read.\n")
    assert outline(document) == [(1, "", ["It rained all day.", "We stayed in and read."])]


def test_hard_wrapped_lines_stay_in_one_paragraph_and_end_no_sentence(opened):
    document = opened("a.txt", "The bridge was\nbuilt in Fig.\n3 and it\nstands. It is\nold.")
    assert sentences(document) == ["The bridge was\nbuilt in Fig.\n3 and it\nstands.", "It is\nold."]
    assert len(document.paragraphs) == 1


def test_without_blank_lines_each_line_that_ends_as_a_sentence_is_a_paragraph():
    assert len(blocks("One is here.\nTwo is here.\nThree is here.\nFour is here.")) == 4


def test_long_lines_are_paragraphs_even_with_blank_lines_elsewhere():
    assert len(blocks(f"{PROSE} {PROSE}\n{PROSE} {PROSE}\n\n{PROSE} {PROSE}")) == 3


def test_the_first_line_alone_is_the_title():
    assert draft_text(f"On the care of bridges\n\n{PROSE}").title == "On the care of bridges"


def test_the_first_words_of_plain_prose_stand_in_for_a_title():
    title = draft_text(f"{PROSE} {PROSE}").title
    assert title.startswith("The inspectors") and len(title) <= 101 and title.endswith("…")


@pytest.mark.parametrize(
    "heading",
    ["1. Introduction", "2.3 The data", "IV. THE LAW", "II.", "THE FACTS OF THE CASE", "Chapter 2", "B. Background",
     "What the inspectors found", "References", "第三章 总则", "一、基本案情", "Zweiter Teil der Prüfung"],
)  # fmt: skip
def test_a_heading_stands_alone_above_a_paragraph(heading):
    assert heading in heads(f"Some title\n\n{PROSE}\n\n{heading}\n\n{PROSE}\n")


@pytest.mark.parametrize(
    "line",
    ["He left.", "and then they went", "- a point", "“Stop there”", "He said:", "2. He left the house.", "1999",
     "https://example.org/a", "the end of it", "Dear Sir,", "E = mc (4)", "2. It is allowed. No costs of any kind"],
)  # fmt: skip
def test_an_ordinary_short_line_is_no_heading(line):
    assert heads(f"Some title\n\n{PROSE}\n\n{line}\n\n{PROSE}\n") == ["Some title"]


def test_a_list_with_blank_lines_between_its_items_gives_no_headings():
    text = f"Some title\n\n2. Fruit\n\n1. Apples\n\n2. Pears\n\n3. Plums\n\n{PROSE}"
    assert heads(text) == ["Some title", "2. Fruit"]


def test_numbered_paragraphs_of_a_judgment_are_no_headings():
    text = f"JUDGMENT\n\n1. Leave granted.\n\n2. {PROSE}\n\n3. {PROSE}\n"
    assert heads(text) == ["JUDGMENT"]


def test_underlines_make_headings_of_two_levels():
    text = f"Title\n=====\n{PROSE}\n\nPart\n----\n{PROSE}\n"
    assert [(b.kind, b.level, b.of(text)) for b in draft_text(text).blocks if b.kind == "heading"] == [
        ("heading", 1, "Title"),
        ("heading", 2, "Part"),
    ]


def test_numbers_give_the_level():
    text = f"Some title\n\n1. One\n\n{PROSE}\n\n1.1 Two\n\n{PROSE}\n\n1.1.1 Three\n\n{PROSE}"
    assert [b.level for b in draft_text(text).blocks if b.kind == "heading"] == [1, 1, 2, 3]


def test_a_heading_may_have_its_paragraph_directly_below():
    text = f"Some title\n\n1. Scope\nThis law holds for all bridges,\nthe small and the great.\n\n{PROSE}"
    assert blocks(text)[1:3] == [
        ("heading", "1. Scope"),
        ("text", "This law holds for all bridges,\nthe small and the great."),
    ]


def test_a_last_line_alone_is_a_paragraph():
    assert blocks(f"{PROSE}\n\nTHE END")[-1] == ("text", "THE END")


def test_items_of_a_list_are_paragraphs_with_their_wrapped_lines():
    assert [words for _, words in blocks(f"{PROSE}\n\n- one thing\n  goes on\n- another")[1:]] == [
        "- one thing\n  goes on",
        "- another",
    ]


def test_an_indented_first_line_begins_a_paragraph():
    assert len(blocks(f"{PROSE[:60]}\nand on it goes.\n    Then a new one began\nand it went on.")) == 2


def test_references_and_captions_are_told_apart(opened):
    document = opened("a.txt", f"Title\n\n{PROSE}\n\nFigure 1: A pier.\n\nReferences\n\nDoe, J. Bridges. 2001.\n")
    assert kinds(document) == [
        ("text", PROSE),
        ("caption", "Figure 1: A pier."),
        ("reference", "Doe, J. Bridges. 2001."),
    ]


def test_a_word_as_long_as_five_million_characters_is_read(opened):
    document = opened("a.txt", "x" * 5_000_000)
    assert len(sentences(document)[0]) == 5_000_000 and len(document.title) < 200


@pytest.mark.slow
def test_five_megabytes_of_prose_in_one_line_are_one_paragraph(opened):
    document = opened("a.txt", "The bridge stood for many years. " * 150_000)
    assert len(document.paragraphs) == 1 and len(document.paragraphs[0].sentences) == 150_000


def test_capitals_that_end_as_a_sentence_are_no_heading():
    assert not is_capitals("STOP.") and is_capitals("THE FACTS")


def test_a_gap_in_the_numbering_loses_no_heading():
    names = [f"{number}. Clause of the lease" for number in (1, 2, 3, 12, 13)]
    assert heads("Some title\n\n" + "\n\n".join(f"{name}\n\n{PROSE}" for name in names)) == ["Some title", *names]


def test_chapters_may_be_called_after_a_type_or_a_year():
    names = ["1. 2-2-0", "2. 4-4-0", "3. 1855", "4. After Steam"]
    assert heads("Some title\n\n" + "\n\n".join(f"{name}\n\n{PROSE}" for name in names)) == ["Some title", *names]
    assert heads(f"Some title\n\n4-4-0\n\n{PROSE}\n\n12-13\n\n{PROSE}") == ["Some title", "4-4-0"]


def test_a_list_within_a_numbered_section_gives_no_headings():
    items = "\n\n".join(
        f"{number}. Kind of boat\nIt was late, as every boat of its kind was.\n" for number in (1, 2, 3)
    )
    text = f"Some title\n\n1. Purpose\n\n{PROSE}\n\n2. Findings\n\n{PROSE}\n\n{items}\n\n3. Costs\n\n{PROSE}"
    assert heads(text) == ["Some title", "1. Purpose", "2. Findings", "3. Costs"]


@pytest.mark.parametrize("item", ["2. Subjective words (Positive words,", "2. Subjective words (positive or"])
def test_the_first_line_of_a_list_item_is_no_heading(item):
    assert heads(f"Some title\n\n{PROSE}\n\n{item}\n\n{PROSE}\n") == ["Some title"]


def test_a_title_broken_within_a_word_is_whole_again(opened):
    document = opened("a.txt", f"LEARNING SEMANTIC EMBED-\nDINGS\n\n{PROSE}\n")
    assert document.title == document.sections[0].heading == "LEARNING SEMANTIC EMBEDDINGS"
    assert document.text[: document.sections[0].paragraphs[0].start] == "LEARNING SEMANTIC EMBED-\nDINGS\n\n"


def test_a_title_goes_on_after_an_open_end_but_not_into_the_authors():
    assert draft_text(f"On the Care of\nBridges\n\n{PROSE}").title == "On the Care of Bridges"
    assert draft_text(f"On Bridges\nJane Doe\n\n{PROSE}").title == "On Bridges"


def test_a_heading_broken_within_a_word_is_whole_again(opened):
    document = opened("a.txt", f"Some title\n\n{PROSE}\n\n2 SEMANTIC EMBED-\nDINGS\n\n{PROSE}\n")
    assert [section.heading for section in document.sections] == ["Some title", "2 SEMANTIC EMBEDDINGS"]


def test_an_abstract_between_the_authors_and_its_text_is_a_heading():
    text = f"Some title\n\nAnonymous submission\nAbstract\n{PROSE}\n"
    assert blocks(text)[1:] == [("text", "Anonymous submission"), ("heading", "Abstract"), ("text", PROSE)]
