"""Sentences in many languages; abbreviations and line ends do not end them."""

import json
import time

import pytest

from longmatch.documents import Document, Span, read
from longmatch.documents.draft import split_sentences

PROSE = "The tribunal heard the engineer and the owner of the land on what the storm had done to the quay. " * 4
HEADED = "Judgment\n========\n\n"


def split(text: str, language: str) -> list[str]:
    return [s.of(text) for s in split_sentences(text, Span(0, len(text)), language)]


@pytest.mark.parametrize(
    ("language", "marked"),
    [
        ("en", "As Smith et al. (2019) show in Fig. 3, it is so.|It holds."),
        ("en", "See Eq. (3).|It holds."),
        ("en", "See Sec. 2.1 for this.|Then go on."),
        ("en", "Roe v. Wade was decided.|It stood."),
        ("en", "Case No. 5 was heard.|He said no.|Then he left."),
        ("en", "It falls under Art. 5 of the law.|Next."),
        ("en", "It is large, e.g. Paris.|Or, i.e. London."),
        ("en", "2. Items are here.|3. More are there."),
        ("en", "J. R. R. Tolkien wrote it.|He was old."),
        ("en", "Shown in Fig.\n3 and Tab.\n4.|Done."),
        ("en", "See Figs. 3 and 4.|Refs. [3] and [4] say so."),
        ("en", "It was 3.5 percent.|Or 1,000.5."),
        ("en", "What now?|Nothing!|Fine."),
        ("en", "A line that wraps\nonto the next. And|so on."),
        ("de", "Gem. § 5 Abs. 2 Nr. 3 BGB gilt dies.|Vgl. Art. 5 GG."),
        ("de", "Das ist z. B. richtig.|Am 3. Oktober war es so."),
        ("de", "Prof. Dr. Müller kam.|Er ging, d. h. er lief."),
        ("fr", "M. Dupont est venu.|Il part."),
        ("fr", "L'art. 5 dit cela.|Voir p. 5."),
        ("fr", "C'est fini !|Vraiment ?|Oui."),
        ("es", "El Sr. Pérez llegó.|¿Qué pasa?|¡Nada!"),
        ("es", "Véase el art. 5 de la ley.|La pág. 3 dice."),
        ("ru", "Это первый.|См. рис. 3."),
        ("ru", "А. С. Пушкин писал.|В 1999 г. он умер."),
        ("it", "Il sig. Rossi è arrivato.|L'art. 5 dice."),
        ("nl", "Dat is o.a. goed.|Ja."),
        ("pt", "O Sr. Silva chegou.|O art. 5 diz."),
        ("zh", "本院认为，被告有罪。|原告说：“是的。”|然后离开！|真的吗？|是的"),
        ("ja", "今日は晴れです。|明日は雨でしょう。"),
        ("ko", "이것은 첫 문장입니다.|두 번째 문장입니다."),
        ("hi", "यह पहला है।|यह दूसरा है।"),
        ("ar", "هذا هو.|ما هذا؟|نعم."),
    ],
)
def test_sentences_end_where_they_should(language, marked):
    parts = marked.split("|")
    if "wraps" in marked:
        parts = ["A line that wraps\nonto the next.", "And so on."]
    assert split(("" if language in {"zh", "ja"} else " ").join(parts), language) == parts


def test_spans_are_of_the_whole_text():
    text = "Skip this. One 😀 here. Two here. Skip that."
    found = list(split_sentences(text, Span(11, 33)))
    assert [s.of(text) for s in found] == ["One 😀 here.", "Two here."]


def test_a_sentence_of_a_million_letters_is_one():
    assert len(split("a" * 1_000_000, "en")) == 1


def test_thousands_of_pieces_without_letters_do_not_take_the_square_of_the_time():
    text = "1. 2? 3! " * 20_000
    began = time.process_time()
    assert len(list(split_sentences(text, Span(0, len(text))))) == 1
    assert time.process_time() - began < 5


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


def test_sentences_keep_their_places_in_a_long_text_with_blank_lines():
    text = "It rained.\n\n" * 2000
    places = [(sentence.start, sentence.end) for sentence in split_sentences(text, Span(0, len(text)))]
    assert places == [(start, start + len("It rained.")) for start in range(0, len(text), len("It rained.\n\n"))]
