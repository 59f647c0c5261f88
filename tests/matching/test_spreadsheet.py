"""Tables whose cells no spreadsheet runs."""

import csv
import io
import unicodedata

import pytest

from longmatch.matching.spreadsheet import safe_cell, write_csv

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
