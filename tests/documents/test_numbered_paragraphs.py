"""Long runs of numbered paragraphs become sections; short ones and lists do not."""

import json

import pytest

from longmatch.documents import Document, read

PROSE = "The tribunal heard the engineer and the owner of the land on what the storm had done to the quay. " * 4
HEADED = "Judgment\n========\n\n"


def numbered(numbers, form="{}. ") -> str:
    return "\n\n".join(form.format(number) + PROSE for number in numbers)


def names(document: Document) -> list[str]:
    return [section.heading for section in document.sections]


@pytest.mark.parametrize("form", ["{}. ", "[{}] ", "({}) ", "{} "])
def test_a_judgment_without_headings_is_divided_by_its_paragraphs(opened, form):
    document = opened("a.txt", HEADED + numbered(range(1, 31), form))
    assert names(document) == ["Judgment", "Paragraphs 1–10", "Paragraphs 11–20", "Paragraphs 21–30"]
    assert [section.level for section in document.sections] == [1, 2, 2, 2]


def test_in_markdown_numbered_paragraphs_are_no_mere_list(opened):
    document = opened("a.md", "# Judgment\n\n" + numbered(range(1, 31)))
    assert names(document) == ["Judgment", "Paragraphs 1–10", "Paragraphs 11–20", "Paragraphs 21–30"]


def test_nothing_is_lost_or_doubled(opened):
    document = opened("a.txt", HEADED + f"Before the court.\n\n{PROSE}\n\n" + numbered(range(1, 31)))
    kept = [paragraph.of(document.text) for paragraph in document.paragraphs]
    assert kept == [part.strip() for part in document.text.split("\n\n")[1:]]
    for section in document.sections[1:]:
        assert (section.start, section.end) == (section.paragraphs[0].start, section.paragraphs[-1].end)


def test_missing_numbers_and_lists_within_do_not_end_the_sequence(opened):
    rules = numbered((1, 2, 3))
    text = HEADED + f"{numbered(range(1, 12))}\n\n{rules}\n\n{numbered(range(14, 31))}"
    assert names(opened("a.txt", text))[1] == "Paragraphs 1–10"
    assert names(opened("a.txt", text))[-1].endswith("–30")


def test_a_short_judgment_stays_whole(opened):
    assert names(opened("a.txt", HEADED + numbered(range(1, 11)))) == ["Judgment"]


def test_a_list_in_a_long_section_does_not_divide_it(opened):
    items = "\n\n".join(f"{number}. {PROSE[:90]}" for number in range(1, 10))
    assert names(opened("a.txt", HEADED + f"{PROSE}\n\n" * 30 + items)) == ["Judgment"]


def test_sections_that_a_file_names_itself_are_left_as_they_are(opened):
    record = {"id": "a", "sections": [{"heading": "All", "text": numbered(range(1, 31))}]}
    assert names(opened("a.jsonl", json.dumps(record))) == ["All"]
    assert len(names(opened("b.jsonl", json.dumps({"id": "b", "text": numbered(range(1, 31))})))) == 3


def test_the_groups_survive_a_second_reading(opened, tmp_path):
    document = opened("a.txt", HEADED + numbered(range(1, 31)))
    assert read(tmp_path / "a.txt") == document
