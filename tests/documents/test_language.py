"""The language is told well enough to split sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.documents.language import count_words, detect_language, words_of


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The bridge is old and it was built in the year of the great flood."),
        ("de", "Die Brücke ist alt und wurde in dem Jahr gebaut, das nicht vergessen ist."),
        ("fr", "Le pont est vieux et il a été construit dans les années qui suivent la guerre."),
        ("es", "El puente es viejo y se construyó en los años de la guerra, como todos los del valle."),
        ("it", "Il ponte non è nuovo, anche se nel tempo della guerra sono stati fatti lavori che la gente ricorda."),
        ("pt", "A ponte não é nova, mas os trabalhos no tempo da guerra foram feitos para uma cidade como as outras."),
        ("nl", "De brug is oud en het werk aan de pijlers is niet meer dan een jaar voor de oorlog gedaan."),
        ("ru", "Мост старый, и его построили до войны."),
        ("zh", "这座桥很老，是战前修建的。"),
        ("ja", "この橋は古くて、戦前に建てられました。"),
        ("ko", "이 다리는 오래되었습니다."),
        ("en", "Qwerty zxcv."),
        ("en", ""),
    ],
)
def test_the_language_is_told(language, text):
    assert detect_language(text) == language


def test_a_few_foreign_names_do_not_change_the_language():
    assert detect_language("Café de la Paix") == "en"


def test_chinese_characters_count_as_words():
    assert count_words("Don't say 本院认为 twice") == 7


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_text_has_the_same_words_beside_other_letters(text):
    assert [*words_of(text), "é"] == words_of(f"{text} é")
