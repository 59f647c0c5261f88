"""RTF: code pages, Unicode, groups that are no text, styles. What an office suite writes is tested with ODT."""

import warnings

import pytest

from longmatch.errors import LongmatchWarning, ReadError
from tests.documents.shapes import kinds, outline


def rtf(body: str, head: str = r"\ansi\ansicpg1252") -> bytes:
    return f"{{\\rtf1{head} {body}}}".encode("latin-1")


@pytest.mark.parametrize(
    ("body", "head", "said"),
    [
        (r"caf\'e9 \'93x\'94", r"\ansi\ansicpg1252", "café “x”"),
        (r"\'cf\'f0\'e8\'e2\'e5\'f2", r"\ansi\ansicpg1251", "Привет"),
        (r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}\f0 caf\'e9 {\f1 \'e4\'e0} \'e9", r"\ansi", "café да é"),
        (r"{\fonttbl{\f3\fcharset128 M;}}\f3\'93\'fa\'96\{", r"\ansi", "日本"),  # a brace is half a character
        (r"\u1055\'3f\u1088?ivet", r"\ansi", "Прivet"),
        (r"\uc0\u1055\u1088 ivet", r"\ansi", "Прivet"),
        (r"{\uc2\u1055 ??\u1088 ??}x", r"\ansi", "Прx"),
        (r"\u-10179?\u-8704? done", r"\ansi", "😀 done"),
        (r"a\~b\_c\-d\emdash e\ldblquote f\rdblquote\{g\}", r"\ansi", "a\u00a0b-cd—e“f”{g}"),
        ("one \r\ntwo", r"\ansi", "one two"),
        (
            r"a{\*\unknown words}{\pict 0102ff}{\header h}{\v hidden}{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}",
            "",
            "alink",
        ),
        (r"a{\upr{old}{\*\ud{new}}}b", r"\ansi", "anewb"),
        (r"x\bin4 {}{}y", r"\ansi", "xy"),
    ],
)
def test_characters(opened, body, head, said):
    assert kinds(opened("a.rtf", rtf(body, head))) == [("text", said)]


def test_styles_and_outline_levels_are_headings(opened):
    sheet = (
        r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 Kop een;}{\s2\sbasedon1 Eigen;}{\s3 heading 3;}{\s4 Title;}"
        r"{\*\cs9 Strong;}}"
    )
    body = sheet + (
        r"\pard\s4 On rain\par\pard\s1 Why\par\pard It falls.\par\pard\s2 Where\par\pard Here.\par"
        r"\pard\s3 When\par\pard Now.\par\pard\outlinelevel1 Who\par\pard We."
    )
    document = opened("a.rtf", rtf(body))
    assert document.title == "On rain"
    assert outline(document) == [
        (1, "Why", ["It falls."]),
        (1, "Where", ["Here."]),
        (3, "When", ["Now."]),
        (2, "Who", ["We."]),
    ]


def test_without_heading_styles_short_bold_lines_are_headings(opened):
    document = opened("a.rtf", rtf(r"{\b Scope}\par It holds.\par Not {\b all} bold\par More."))
    assert outline(document) == [(1, "Scope", ["It holds.", "Not all bold", "More."])]


def test_tables_footnotes_and_boxes(opened):
    body = (
        r"Text{\footnote A {\b note}.\par Twice.} goes on.{\shp{\*\shpinst{\sp{\sn a}{\sv 1}}{\shptxt Boxed.\par}}}\par"
        r"\trowd\pard\intbl month\cell delay\cell\row\trowd\pard\intbl May\par early\cell 7\cell\row\pard After.\par"
    )
    assert kinds(opened("a.rtf", rtf(body))) == [
        ("text", "Text goes on."),
        ("footnote", "A note. Twice."),
        ("text", "Boxed."),
        ("table", "month | delay\nMay early | 7"),
        ("text", "After."),
    ]


def test_the_info_group_gives_title_author_and_year(opened):
    info = r"{\info{\title On rain}{\author Jane D\'f6e}{\creatim\yr2019\mo3\dy1}{\revtim\yr2024}{\operator Typist}}"
    document = opened("a.rtf", rtf(info + "It falls."))
    assert document.title == "On rain" and document.metadata == {"author": "Jane Döe", "year": 2019}


def test_a_file_whose_end_is_missing_is_read_and_said_to_be_cut(opened):
    with pytest.warns(LongmatchWarning, match="its end is missing"):
        document = opened("a.rtf", rtf(r"{\b First.}\par Second {\i and")[:-1])
    assert kinds(document)[-1] == ("text", "Second and")


def test_what_is_no_rtf_or_too_deep_is_refused(opened):
    with pytest.raises(ReadError, match="is not an RTF file"):
        opened("a.rtf", b"just words")
    with pytest.raises(ReadError, match="is nested too deep"), warnings.catch_warnings():
        opened("a.rtf", b"{\\rtf1 " + b"{" * 100_000)
