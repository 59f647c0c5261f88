"""How the cells that differ between two versions are shown."""

from io import StringIO

from rich.console import Console

from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.render.html import render_redline
from longmatch.render.terminal_match import CELLS, print_tables
from tests.render.render_matches import matched
from tests.reuse.texts import random_words


def priced(price: str, id: str, rows: int = 1) -> Document:
    draft = Draft()
    draft.heading("Schedule 1")
    draft.paragraph(" ".join(random_words(1, 60)) + ".")
    draft.paragraph("\n".join(["Item | Price", *(f"Analyst {n} | {price}" for n in range(rows))]), "table")
    return draft.document(id)


def printed(rows: int) -> str:
    console = Console(file=StringIO(), width=100)
    print_tables(matched(priced("£950", "a", rows), priced("[b]€950", "b", rows)).revision, console)
    return console.file.getvalue()


def test_a_terminal_names_row_and_column_with_both_cells():
    assert "Schedule 1  Analyst 0  Price   £950  [b]€950" in printed(1)
    assert "more not shown" not in printed(CELLS) and "(1 more not shown)" in printed(CELLS + 1)


def test_the_page_lists_the_cells_and_marks_them_in_the_text():
    page = render_redline(matched(priced("£950", "a"), priced("<b>€950", "b")))
    assert '<del>£950</del></td><td dir="auto"><ins>&lt;b&gt;€950</ins>' in page
    assert "Analyst 0 | <del>£950</del> <ins>&lt;b&gt;€950</ins>" in page
    assert "1 cell differs in tables." in page
