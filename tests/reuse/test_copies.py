"""Which documents are copies: those of which every visible character is the same."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.render.wording import revision_summary
from longmatch.reuse.reuse import find_reuse
from longmatch.reuse.revision import revise
from longmatch.reuse.words import visible

CLAUSE = (
    "The Customer shall pay £42,500 a month; the discount is -5% of the list price (see note 2), and the option to "
    "re-sign lapses on 1/2/2021. Neither party’s “Fees” exceed 1.5 × those of 2019–2020, café bills aside."
)
NOTE = "2 As agreed on 3 May 2019: net of tax at 20%, unless § 4(b) applies."
TABLE = "Item | Unit price\nDaily analyst rate | £950\nStorage per TB | £85\nDiscount | -5%"
SIGNS = "£€$%-–—−+=/.,;:!?'’\"“”()[]§*&@#<>0123456789aAéñ²½本"


def contract(clause: str = CLAUSE, note: str = NOTE, table: str = TABLE, source: str = "") -> Document:
    draft = Draft()
    draft.heading("4. Price")
    draft.paragraph(clause)
    draft.paragraph(note, "footnote")
    draft.heading("Schedule 1")
    draft.paragraph(table, "table")
    return draft.document("contract", source=source)


@st.composite
def edits(draw: st.DrawFn, text: str) -> str:
    """The text with one visible character inserted, removed or replaced."""
    place = draw(
        st.sampled_from([n for n, character in enumerate(text) if not character.isspace() and character != "|"])
    )
    kind = draw(st.sampled_from(["insert", "remove", "replace"]))
    sign = "" if kind == "remove" else draw(st.sampled_from(SIGNS))
    edited = text[:place] + sign + text[place + (kind != "insert") :]
    assume(visible(edited) != visible(text))
    return edited


def shown(a: Document, b: Document) -> tuple[str, str]:
    """The visible characters that a revision marks as removed, and as added."""
    pieces = [piece for block in revise(a, b).blocks for piece in block.pieces]
    removed, added = ("".join(p.text for p in pieces if p.change == change) for change in ("removed", "added"))
    return visible(removed), visible(added)


@given(edits(CLAUSE))
def test_one_other_character_of_the_text_makes_no_copy_and_is_shown(edited):
    a, b = contract(), contract(edited)
    assert find_reuse(a, b).relation == "version"
    removed, added = shown(a, b)
    assert removed != added and removed in visible(CLAUSE)


@given(edits(NOTE))
def test_one_other_character_of_a_footnote_makes_no_copy_and_is_shown(edited):
    a, b = contract(), contract(note=edited)
    assert find_reuse(a, b).relation == "version"
    assert shown(a, b)[0] != shown(a, b)[1]


@given(edits(TABLE))
def test_one_other_character_of_a_cell_makes_no_copy_and_is_shown(edited):
    a, b = contract(), contract(table=edited)
    assert find_reuse(a, b).relation == "version"
    assert shown(a, b)[0] != shown(a, b)[1]
    ((cell,),) = (table.cells for table in revise(a, b).tables)
    assert visible(cell.before) in visible(TABLE) and visible(cell.after) in visible(edited)
    assert visible(cell.before) != visible(cell.after)


@pytest.mark.parametrize(
    "same",
    [
        CLAUSE.replace(" ", "\n\t"),
        CLAUSE.replace("option", "op-\ntion"),
        CLAUSE.replace("re-sign", "re-\nsign"),
        CLAUSE.replace("é", "e\u0301"),
        CLAUSE.replace("re-sign", "re\u2011si\u00adgn"),
    ],
)
def test_white_space_and_hyphens_at_line_ends_do_not_count(same):
    assert find_reuse(contract(), contract(same)).relation == "copy"
    assert shown(contract(), contract(same)) == ("", "")


def test_a_ligature_is_the_letters_it_joins():
    one, other = (contract(f"{CLAUSE} The {word} of the of{word[-2:]}cer.") for word in ("office", "o\ufb03ce"))
    assert find_reuse(one, other).relation == "copy" or visible("o\ufb03ce") == "office"


def test_a_title_that_stands_beside_the_text_counts():
    one, other = (Document("a", title, "", ()) for title in ("Lease of 8 Mill Lane", "Lease of 9 Mill Lane"))
    text = contract()
    a, b = (Document(d.id, d.title, text.text, text.sections, source="lease.docx") for d in (one, other))
    assert find_reuse(a, a).relation == "copy" and find_reuse(a, b).relation == "version"
    assert "The title “Lease of 8 Mill Lane” became “Lease of 9 Mill Lane”." in revision_summary(revise(a, b))


def test_what_the_format_of_one_file_cannot_give_is_said_not_to_be_compared():
    plain = Draft()
    plain.heading("4. Price")
    plain.paragraph(CLAUSE)
    plain.heading("Schedule 1")
    text = plain.document("contract", source="contract.txt")
    found = find_reuse(contract(source="contract.docx"), text)
    assert found.relation == "copy" and found.not_compared == ("tables", "footnotes")


def test_a_text_too_short_for_any_passage_is_no_copy_either():
    short = [contract(f"Pay {sum_} now.", note="", table="") for sum_ in ("£42,500", "€42,500")]
    assert find_reuse(*short).relation == "version" and shown(*short) == ("£42,500", "€42,500")
    priced = [contract("Prices.", note="", table=table) for table in (TABLE, TABLE.replace("£85", "£58"))]
    assert find_reuse(*priced).relation == "version" and find_reuse(priced[0], priced[0]).relation == "copy"


@pytest.mark.parametrize("part", ["note", "table"])
def test_a_footnote_or_a_table_that_is_gone_makes_no_copy(part):
    a, b = contract(source="a.docx"), contract(**{part: ""}, source="b.html")
    assert find_reuse(a, b).relation == "version" and shown(a, b)[0]
