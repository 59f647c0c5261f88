"""Passages that stand in two documents, and what they make of the two."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from longmatch.documents.document import Document, Span
from longmatch.documents.draft import Draft
from longmatch.render.wording import how_exactly, revision_summary
from longmatch.reuse.reuse import find_reuse
from longmatch.reuse.revision import revise
from longmatch.reuse.words import Vocabulary, Words, visible
from tests.reuse.texts import document, edited, random_words

CLAUSE = (
    "The Customer shall pay £42,500 a month; the discount is -5% of the list price (see note 2), and the option to "
    "re-sign lapses on 1/2/2021. Neither party’s “Fees” exceed 1.5 × those of 2019–2020, café bills aside."
)
NOTE = "2 As agreed on 3 May 2019: net of tax at 20%, unless § 4(b) applies."
TABLE = "Item | Unit price\nDaily analyst rate | £950\nStorage per TB | £85\nDiscount | -5%"
SIGNS = "£€$%-–—−+=/.,;:!?'’\"“”()[]§*&@#<>0123456789aAéñ²½本"


def pasted(share: float, length: int = 120):
    """Two unrelated documents, one with a passage of the other."""
    source, host = random_words(1, 900), random_words(2, 900)
    passage = source[300 : 300 + length]
    return document(source), document(host[:400], edited(passage, share), host[400:], id="b"), passage


@pytest.mark.parametrize("share", [0.0, 0.05, 0.15])
def test_a_pasted_passage_is_found_where_it_stands(share):
    a, b, passage = pasted(share)
    (found,) = find_reuse(a, b).passages
    assert set(found.a.of(a.text).split()[2:-2]) <= set(passage)
    assert found.words == pytest.approx(120, abs=12)
    assert found.unchanged >= 1 - 2 * share
    paragraph = b.paragraphs[1]
    assert paragraph.start - 30 <= found.b.start and found.b.end <= paragraph.end + 30


def test_unrelated_documents_share_nothing():
    found = find_reuse(document(random_words(1, 2000)), document(random_words(2, 2000)))
    assert found.passages == () and found.relation is None and found.share_a == 0


def test_the_shares_are_those_of_the_words():
    a, b, _ = pasted(0.0)
    found = find_reuse(a, b)
    assert found.share_a == pytest.approx(120 / 900, abs=0.01)
    assert found.share_b == pytest.approx(120 / 1020, abs=0.01)
    assert found.unchanged == pytest.approx(1, abs=0.02)


def test_case_signs_and_line_breaks_hide_no_passage():
    words = random_words(3, 60)
    a = document(random_words(1, 200), words)
    noisy = [f"{word[:2]}-\n{word[2:]}" if n % 7 == 0 else word.upper() + "," for n, word in enumerate(words)]
    b = document(random_words(2, 200), noisy, id="b")
    (found,) = find_reuse(a, b).passages
    assert found.words >= 59  # but the last, which ends another sentence
    assert found.same == 9  # those broken at a line end


def test_a_passage_with_one_other_sign_is_not_word_for_word():
    words = random_words(3, 200)
    a = document(random_words(1, 200), words)
    assert find_reuse(a, document(random_words(2, 200), words, id="b")).passages[0].unchanged == 1
    words[100] += ","
    (found,) = find_reuse(a, document(random_words(2, 200), words, id="b")).passages
    assert found.words - found.same == 1 and how_exactly(found.unchanged) == "nearly word for word"


def test_chinese_is_compared_by_characters():
    chance = np.random.default_rng(0)
    a, b, passage = ("".join(map(chr, chance.integers(0x4E00, 0x4E00 + 800, count))) for count in (900, 900, 150))
    first = document([a[:300] + passage + a[300:]])
    second = document([b[:500] + passage + b[500:]], id="b")
    (found,) = find_reuse(first, second).passages
    assert passage[2:-2] in found.a.of(first.text) and found.words == pytest.approx(150, abs=4)
    assert find_reuse(first, second).unit == "character"


def test_thai_which_has_no_spaces_is_compared_too():
    chance = np.random.default_rng(0)
    letters = [chr(n) for n in range(0x0E01, 0x0E3A)] + [chr(n) for n in range(0x0E40, 0x0E4D)]
    a, b, passage = ("".join(chance.choice(letters, count)) for count in (2500, 2500, 400))
    first, second = document([a[:900] + passage + a[900:]]), document([b[:500] + passage + b[500:]], id="b")
    (found,) = find_reuse(first, second).passages
    assert passage[40:-40] in found.a.of(first.text) and passage[40:-40] in found.b.of(second.text)
    assert find_reuse(document([a]), document([b], id="b")).passages == ()


def test_copies_versions_and_reuse_are_told_apart():
    text, other = random_words(1, 600), random_words(2, 600)
    a = document(text)
    assert find_reuse(a, document(text, id="b")).relation == "copy"
    assert find_reuse(a, document([word.upper() for word in text], id="b")).relation == "version"
    assert find_reuse(a, document(edited(text, 0.1), id="b")).relation == "version"
    assert find_reuse(a, document(text[300:], text[:300], id="b")).relation == "version"
    assert find_reuse(a, document(text[:450], other[:200], id="b")).relation == "version"
    assert find_reuse(a, document(other, text[:90], id="b")).relation == "reuse"
    assert find_reuse(a, document(other, text[:20], id="b")).relation is None


def test_one_other_word_in_a_long_text_makes_a_version():
    text = random_words(1, 2000)
    changed, shorter = [*text[:999], "not", *text[1000:]], [*text[:999], *text[1000:]]
    for other in (changed, shorter, [*text, "not"]):
        assert find_reuse(document(text), document(other, id="b")).relation == "version"


def test_what_many_documents_share_is_told_and_does_not_count():
    a, b, _ = pasted(0.0)
    found = find_reuse(a, b, is_common=lambda text: True)
    assert found.passages[0].common and found.relation is None
    assert (found.share_a, found.common_a) == (0, pytest.approx(120, abs=4))


def test_text_repeated_within_a_document_counts_once():
    passage = random_words(5, 60)
    a = document(random_words(1, 400), passage)
    b = document(passage, random_words(2, 400), passage, id="b")
    found = find_reuse(a, b)
    assert found.reused_a == pytest.approx(60, abs=3) and found.reused_b == pytest.approx(120, abs=6)


def test_empty_documents_are_nothing():
    found = find_reuse(document(), document(id="b"))
    assert found.relation is None and found.share_a == 0


def test_spans_are_those_of_the_text():
    text = "Ein Bei-\nspiel, groß."
    words = Words.of(text, [Span(0, len(text))], Vocabulary())
    assert [text[s:e] for s, e in zip(words.starts, words.ends, strict=True)] == ["Ein", "Bei-\nspiel,", "groß."]


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
