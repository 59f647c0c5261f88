"""Bytes of any usual encoding become the right text."""

import pytest

from longmatch.documents.decoding import decode
from longmatch.errors import ReadError

GERMAN = "Die Prüfung der Brücke ergab größere Schäden: für die Öffnung müssen 3 Bögen erneuert werden."
FRENCH = "L’élève était déjà là, à côté du théâtre ; il coûtait 5 €, où ça ?"
SPANISH = "El niño soñó con el corazón de la montaña. ¿Qué pasó después?"
POLISH = "W tym roku nie było to łatwe, że się tak wyrażę, ale jest już po wszystkim i do domu na święta."
CHINESE = "本院认为，被告人以非法占有为目的，秘密窃取他人财物，数额较大，其行为已构成盗窃罪。" * 3
RUSSIAN = "Суд первой инстанции пришёл к выводу о том, что требования истца подлежат удовлетворению."
JAPANESE = "今日は天気がとてもいいので、みんなで公園へ散歩に行きましたが、途中で雨が降りました。" * 3


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"), (GERMAN, "utf-8-sig"), (GERMAN, "utf-16"), (GERMAN, "utf-32"), (GERMAN, "latin-1"),
        (FRENCH, "cp1252"), (SPANISH, "latin-1"), (SPANISH, "cp1252"), (POLISH, "cp1250"), (CHINESE, "utf-8"),
        (CHINESE, "gb18030"), (CHINESE, "utf-16"), (RUSSIAN, "cp1251"), (RUSSIAN, "utf-8"), (JAPANESE, "shift_jis"),
        ("Only plain words here.", "ascii"),
    ],
)  # fmt: skip
def test_text_is_read_right(text, encoding):
    assert decode(text.encode(encoding), "a.txt") == text


@pytest.mark.parametrize("word", ["é", "Café", "ß", "Größe", "naïve"])
def test_even_a_word_in_latin_1_is_read_right(word):
    assert decode(word.encode("latin-1"), "a.txt") == word


def test_utf_8_with_a_damaged_character_stays_utf_8():
    data = GERMAN.encode() * 5
    assert decode(data[:-2].replace(b"\xc3\xbc", b"\xc3", 1) + b"\xe2\x82", "a.txt").count("Brücke") == 5


def test_newlines_are_kept_as_they_are():
    assert decode(b"a\r\nb\rc\n", "a.txt") == "a\r\nb\rc\n"


def test_a_declared_encoding_is_taken_where_it_fits():
    assert decode("Łódź".encode("iso-8859-2"), "a.html", "iso-8859-2") == "Łódź"


@pytest.mark.parametrize("encoding", ["nonsense", "utf-8", "ascii"])
def test_a_wrong_declaration_does_no_harm(encoding):
    assert decode(GERMAN.encode("latin-1"), "a.html", encoding) == GERMAN


@pytest.mark.parametrize(
    "data",
    [b"\x89PNG\r\n\x1a\n\x00\x00", b"\x1f\x8b\x08rest", bytes(range(256)) * 4, b"\x01\x02\x03\x04" * 50, b"a\x00b"],
)
def test_binary_content_is_refused(data):
    with pytest.raises(ReadError, match=r"a\.txt is not text"):
        decode(data, "a.txt")
