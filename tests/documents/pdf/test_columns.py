"""Reading order: nothing is lost, nothing comes twice, columns are not mixed."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from longmatch.documents.pdf.columns import ColumnReader, find_gutter, usual_gutters
from longmatch.documents.pdf.fragments import Fragment
from longmatch.documents.pdf.furniture import without_furniture
from tests.effort import tried


def fragment(text: str, x0: float, y: float, width: float = 0.0, size: float = 10.0) -> Fragment:
    return Fragment(text, x0, x0 + (width or 5.0 * len(text)), y, size, top_size=size, prose=len(text) >= 18)


def column(x0: float, name: str, lines: int, top: float = 0.0) -> list[Fragment]:
    return [fragment(f"{name} line {n} of running text", x0, top + 12.0 * n, 200) for n in range(lines)]


PIECES = st.builds(
    fragment,
    text=st.text("abc defg", min_size=1, max_size=40).filter(str.strip),
    x0=st.floats(0, 500),
    y=st.floats(0, 700),
    width=st.floats(1, 300),
    size=st.floats(6, 20),
)


@settings(max_examples=tried(70), deadline=None)
@given(st.lists(PIECES, max_size=40))
def test_every_character_of_a_page_is_read_exactly_once(fragments: list[Fragment]):
    lines = ColumnReader().lines(fragments, 1)
    read = Counter("".join(line.text for line in lines).replace(" ", ""))
    assert read == Counter("".join(p.text for p in fragments).replace(" ", ""))


def test_two_columns_are_read_one_after_the_other():
    fragments = [p for pair in zip(column(50, "left", 10), column(270, "right", 10), strict=True) for p in pair]
    assert [line.text.split()[0] for line in ColumnReader().lines(fragments, 1)] == ["left"] * 10 + ["right"] * 10


def test_a_line_across_both_columns_is_read_between_what_is_above_and_below():
    across = fragment("a heading that runs over both of the columns", 50, 130, 420)
    fragments = column(50, "left", 10) + column(270, "right", 10) + [across]
    fragments += column(50, "low", 10, 150) + column(270, "last", 10, 150)
    order = [line.text.split()[0] for line in ColumnReader().lines(fragments, 1)]
    assert [word for word, before in zip(order, [None, *order], strict=False) if word != before] == [
        "left",
        "right",
        "a",
        "low",
        "last",
    ]


def test_the_cells_of_a_table_make_no_columns():
    rows = [fragment(word, x, 12.0 * n) for n in range(20) for x, word in ((50, "name"), (200, "3.14"), (350, "2.71"))]
    assert find_gutter(rows) is None


def test_a_page_with_little_text_follows_the_gutter_of_the_others():
    full = column(50, "left", 20) + column(270, "right", 20)
    short = column(50, "left", 2) + column(270, "right", 2)
    usual = usual_gutters([full, full, short])
    assert find_gutter(short) is None
    assert [round(gutter) for gutter in usual] == [260]
    assert [line.text[:4] for line in ColumnReader(usual).lines(short, 1)] == ["left", "left", "righ", "righ"]


def test_a_section_heading_at_the_top_of_many_pages_is_no_running_head():
    pages = [
        [fragment(f"{n}.1", 50, 40, size=14), fragment("Introduction", 80, 40, size=14), *column(50, "text", 20, 70)]
        for n in range(1, 6)
    ]
    assert without_furniture(pages) == pages


def test_a_running_head_that_changes_from_page_to_page_is_known_by_its_place():
    heads = ["The book of kilns"] * 4 + ["Of glazes", "Of ash"]
    pages = [[fragment(head, 50, 10), *column(50, "text", 20, 50)] for head in heads]
    assert all(page[0].text.startswith("text") for page in without_furniture(pages))
