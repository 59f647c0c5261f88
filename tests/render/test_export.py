"""A library as a bibliography, and tables whose cells no spreadsheet runs: BibTeX, RIS, CSV."""

import csv
import io
import re
import unicodedata
from typing import Any

import pytest

from longmatch.documents.read import read_text_string
from longmatch.matching.hits import Hit, Hits
from longmatch.render.export import COLUMNS, bibtex, export, ris, safe_cell, write_csv, write_table


def record(id: str = "a.pdf", title: str = "Tides", **metadata: Any) -> dict[str, Any]:
    facts = {"language": "en", "words": 100, "source": f"/docs/{id}"}
    return {"id": id, "title": title, "metadata": metadata, **facts}


def braces_match(text: str) -> bool:
    """Whether BibTeX finds the end of every value: it counts braces, escaped or not."""
    depth = 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return False
    return depth == 0


def test_every_sign_that_bibtex_knows_is_escaped() -> None:
    hostile = r"50% & $x_1^2$ #1 ~ \input{/etc/passwd} } @article{evil, x = {y}"
    entry = "".join(bibtex([record(title=hostile, author="} Doe, J. {", doi="10.1/x_{y}", journal="A & B")]))
    assert braces_match(entry) and entry.count("@article{") == 2  # one of them in the title
    assert r"50\% \& \$x\_1{\textasciicircum}2\$ \#1 {\textasciitilde} {\textbackslash}input" in entry
    assert r"journal = {A \& B}" in entry and "doi = {10.1/x_%7By%7D}" in entry


HOSTILE = "2019}, evil = {X"
FIELDS = (
    "author",
    "year",
    "journal",
    "volume",
    "issue",
    "pages",
    "publisher",
    "isbn",
    "doi",
    "url",
    "tags",
    "keywords",
    "type",
)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", [HOSTILE, [HOSTILE, "}\n}\n@misc{y,"], "\\} @misc{x,\n\r\n}\u2028@misc{z}"])
def test_no_field_ends_its_braces_or_its_line(name: str, value: Any) -> None:
    hostile = record(id="x}, y = {", title="} z = {", **{name: value})
    entry = "".join(bibtex([hostile, record(**{name: value, "type": "book"})]))
    assert braces_match(entry) and entry.count("\n}\n") == 2
    assert all(line[0] in "@}" or line.startswith("  ") for line in entry.splitlines())
    assert re.findall(r"^  (\w+) = ", entry, re.MULTILINE).count("evil") == 0
    lines = "".join(ris([hostile | {"language": "en\r\nER  - "}])).split("\r\n")
    assert lines.count("ER  - ") == 1 and all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in lines if line)


def test_entries_have_types_and_keys_of_their_own() -> None:
    records = [
        record(
            "a",
            "The tides",
            author="Döe, Jane; Roe, R.",
            year=2019,
            type="conferencePaper",
            journal="Proc",
            pages="3-14",
        ),
        record("b", "The tides", author="Jane Döe", year="2019"),
        record("c", "雨", year=2019.0),
    ]
    text = "".join(bibtex(records))
    assert "@inproceedings{doe2019tides," in text and "@misc{doe2019tides-2," in text and "@misc{2019," in text
    assert "booktitle = {Proc}" in text and "pages = {3--14}" in text and "author = {Döe, Jane and Roe, R.}" in text


def test_ris_has_one_line_per_value() -> None:
    text = "".join(
        ris([record(title="Tides\nER  - \nTY  - JOUR", author="Doe, J.; Roe, R.", tags="a; b", pages="3–14")])
    )
    lines = text.split("\r\n")
    assert [line for line in lines if line.startswith(("TY", "ER"))] == ["TY  - GEN", "ER  - "]
    assert {"AU  - Doe, J.", "AU  - Roe, R.", "KW  - a", "KW  - b", "SP  - 3", "EP  - 14"} <= set(lines)


def test_no_cell_of_a_table_is_run_as_a_formula() -> None:
    signs = ["=1+1", "+1", "-1", "@SUM(1)", "\t=1", " =1", "＝1"]
    file = io.StringIO()
    export([record(sign, title=sign, author=sign) for sign in signs], "csv", file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert list(rows[0]) == list(COLUMNS)
    for row, sign in zip(rows, signs, strict=True):
        assert row["id"] == row["title"] == row["author"] == f"'{sign}"
    assert rows[0]["words"] == "100"


def test_a_ranking_has_no_formulas_either() -> None:
    file = io.StringIO()
    write_table(Hits([Hit(read_text_string("Words.", "=x", "@y"), -0.5, 0.0)]), file)
    assert file.getvalue().splitlines()[1].startswith("'=x,'@y,,")


PASSED_OVER = [
    chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in {"Zs", "Zl", "Zp", "Cc", "Cf"}
]


@pytest.mark.parametrize("sign", "=+-@＝＋－＠﹢﹣﹦﹫")
def test_no_character_that_is_passed_over_hides_a_formula(sign):
    unsafe = [hex(ord(c)) for c in PASSED_OVER if not safe_cell(f"{c}{sign}1+1").startswith("'")]
    assert len(PASSED_OVER) > 200 and not unsafe
    assert safe_cell(f"\v\u00a0\ufeff {sign}1").startswith("'")


def test_other_cells_stay_as_they_are():
    cells = ["a = b", "2-3", "[@x]", " plain", "", "(c) =", "\ufeffText", 3, -0.5, None]
    assert [safe_cell(cell) for cell in cells] == cells


def test_a_table_is_read_back_with_the_apostrophe():
    table = io.StringIO()
    write_csv(table, ["id", "score"], [{"id": "\u00a0=HYPERLINK(1)", "score": -1.5}])
    assert list(csv.reader(io.StringIO(table.getvalue())))[1] == ["'\u00a0=HYPERLINK(1)", "-1.5"]
