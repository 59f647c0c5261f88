"""How two versions of a text differ."""

import random
from collections.abc import Sequence

import pytest

from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.render.json import VersionChanges
from longmatch.render.wording import revision_summary
from longmatch.reuse.revision import Revision, SectionChange, revise
from tests.reuse.texts import document, edited, random_words

BOILERPLATE = "The parties agree that the following shall apply under this Agreement:"
CLAUSES = ("Term", "Services", "Fees", "Confidentiality", "Liability", "Force majeure", "Governing law")
TABLE = ["Item | Price | Unit", "Analyst | £950 | day", "Storage | £85 | TB", "Hosting | £5 | month"]
TEXT = " ".join(random_words(1, 40)) + "."


def text_of(revision: Revision, *changes: str) -> str:
    """The text of the pieces of some changes, without spaces."""
    pieces = (piece for block in revision.blocks for piece in block.pieces)
    return "".join("".join(piece.text.split()) for piece in pieces if piece.change in changes)


def whole(version: Document) -> str:
    """All headings and paragraphs, without spaces."""
    texts = (text for s in version.sections for text in (s.heading, *(p.of(version.text) for p in s.paragraphs)))
    return "".join("".join(text.split()) for text in texts)


def random_version(paragraphs: list[list[str]], chance: random.Random) -> list[list[str]]:
    """Paragraphs edited, left out, added, split, joined and moved."""
    version = [edited(words, chance.choice([0, 0, 0.1, 0.5]), chance.randrange(99)) for words in paragraphs]
    for _ in range(4):
        at = chance.randrange(len(version))
        match chance.randrange(5):
            case 0:
                version.insert(at, random_words(chance.randrange(999), 20))
            case 1 if len(version) > 1:
                version.pop(at)
            case 2:
                version.insert(chance.randrange(len(version)), version.pop(at))
            case 3 if at + 1 < len(version):
                version[at : at + 2] = [version[at] + version[at + 1]]
            case 4:
                version[at : at + 1] = [version[at][:7], version[at][7:]]
    return [words for words in version if words]


@pytest.mark.parametrize("seed", range(60))
def test_both_versions_can_be_read_off_the_revision(seed):
    """The second in order; the first but for what is printed once where it did not change."""
    chance = random.Random(seed)
    paragraphs = [random_words(100 * seed + n, chance.randrange(1, 60)) for n in range(6)]
    a = document("One", *paragraphs[:3], "Two", *paragraphs[3:])
    version = random_version(paragraphs, chance)
    b = document("One", *version[:2], "Three", *version[2:], id="b")
    revision = revise(a, b)
    assert text_of(revision, "same", "added", "moved here") == whole(b)
    assert text_of(revision, "same", "removed", "moved away") == whole(a)


def test_what_was_added_and_removed_is_named_by_word():
    a = document("The contract shall end on the last day of May unless both parties agree".split())  # noqa: SIM905
    b = document("The contract shall end on the last day of June unless both parties agree".split(), id="b")  # noqa: SIM905
    (block,) = revise(a, b).blocks
    assert [(piece.change, piece.text.strip()) for piece in block.pieces] == [
        ("same", "The contract shall end on the last day of"),
        ("removed", "May"),
        ("added", "June"),
        ("same", "unless both parties agree."),
    ]


def test_sections_are_told_apart_by_what_happened_to_them():
    kept, moved, old, new = (random_words(n, 40) for n in range(4))
    changed = random_words(4, 80)
    after = [*changed[:20], "other", "words", *changed[22:]]
    a = document("Kept", kept, "Moved", moved, "Changed", changed, "Old", old)
    b = document("Kept", kept, "Changed", after, "New", new, "Moved", moved, id="b")
    found = {section.heading: section for section in revise(a, b).sections}
    assert {heading: section.status for heading, section in found.items()} == {
        "Kept": "unchanged",
        "Changed": "changed",
        "Old": "removed",
        "New": "added",
        "Moved": "moved",
    }
    assert (found["Changed"].added, found["Changed"].removed) == (2, 2)
    assert found["Moved"].moved == 41


def test_both_ends_of_a_move_have_its_number():
    first, second = random_words(1, 60), random_words(2, 30)
    revision = revise(document(first, second), document(second, first, id="b"))
    ends = {piece.change: piece for block in revision.blocks for piece in block.pieces if piece.move}
    assert ends.keys() == {"moved away", "moved here"}
    assert ends["moved away"].move == ends["moved here"].move == 1
    assert ends["moved away"].text.split() == ends["moved here"].text.split()


def test_case_and_signs_are_changes_but_hyphens_at_line_ends_are_not():
    a = document(["Who", "shall", "pay", "the", "rent", "of", "“May”", "in", "ad-\nvance"])
    b = document(["Who", "Shall", "pay,", "the", "rent", "of", '"May"', "in", "advance"], id="b")
    (block,) = revise(a, b).blocks
    changed = [(piece.change, piece.text.strip()) for piece in block.pieces if piece.change != "same"]
    assert changed == [("removed", "shall pay"), ("added", "Shall pay,"), ("removed", "“May”"), ("added", '"May"')]


def test_the_same_text_has_no_changes():
    a = document("One", random_words(1, 50), "Two", random_words(2, 50))
    revision = revise(a, a)
    assert all(block.unchanged for block in revision.blocks)
    assert revision.words("same") == 102 and revision.words("added") == revision.words("removed") == 0


def test_chinese_is_revised_by_characters():
    a, b = document(["本院认为被告人的行为构成盗窃罪"]), document(["本院认为被告人的行为构成诈骗罪"], id="b")
    (block,) = revise(a, b).blocks
    assert [piece.text for piece in block.pieces][1:3] == ["盗窃", "诈骗"]


def test_empty_documents_have_no_revision():
    assert revise(document(), document(id="b")).blocks == ()
    assert [piece.change for piece in revise(document(), document(["new"], id="b")).blocks[0].pieces] == ["added"]


def text(seed: int, words: int = 60) -> str:
    return " ".join(random_words(seed, words)) + "."


def version(*sections: tuple[str, str], id: str = "a") -> Document:
    """A document of headings and texts; each dot within a heading's number is a level."""
    draft = Draft()
    for heading, body in sections:
        draft.heading(heading, heading.split()[0].rstrip(".").count(".") + 1)
        for paragraph in body.split("\n\n") if body else ():
            draft.paragraph(paragraph)
    return draft.document(id)


def numbered(*clauses: tuple[str, str], id: str = "a") -> Document:
    return version(*((f"{n}. {name}", f"{BOILERPLATE} {body}") for n, (name, body) in enumerate(clauses, 1)), id=id)


def rows(revision: Revision) -> dict[str, SectionChange]:
    return {section.heading: section for section in revision.sections}


def statuses(revision: Revision) -> list[tuple[str, str]]:
    return [(section.heading, section.status) for section in revision.sections]


CONTRACT = [(name, text(n)) for n, name in enumerate(CLAUSES)]


def test_a_clause_that_replaces_another_under_its_number_is_two_rows():
    after = [*CONTRACT[:5], ("Audit", text(50)), CONTRACT[6]]
    revision = revise(numbered(*CONTRACT), numbered(*after, id="b"))
    assert statuses(revision)[5:] == [
        ("6. Force majeure", "removed"),
        ("6. Audit", "added"),
        ("7. Governing law", "unchanged"),
    ]
    found = rows(revision)
    assert found["6. Audit"].removed == found["6. Audit"].same == 0
    assert found["6. Force majeure"].removed == 74 and revision.words("moved") == 0


def test_sections_that_only_got_another_number_are_renumbered_and_the_number_shows():
    revision = revise(numbered(*CONTRACT), numbered(*CONTRACT[:2], *CONTRACT[3:], id="b"))
    assert [status for _, status in statuses(revision)] == [*["unchanged"] * 2, "removed", *["renumbered"] * 4]
    term = rows(revision)["3. Confidentiality"]
    assert term.was == ("4. Confidentiality",) and not term.edited and (term.added, term.removed) == (1, 1)
    block = next(block for block in revision.blocks if "Confidentiality" in block.pieces[-1].text)
    assert [(piece.change, piece.text.strip()) for piece in block.pieces] == [
        ("removed", "4."),
        ("added", "3."),
        ("same", "Confidentiality"),
    ]


def test_a_renamed_section_says_what_it_was_called():
    after = [("Duration", CONTRACT[0][1]), *CONTRACT[1:]]
    row = revise(numbered(*CONTRACT), numbered(*after, id="b")).sections[0]
    assert (row.heading, row.status, row.was, row.edited) == ("1. Duration", "renamed", ("1. Term",), False)


def test_a_rewritten_section_under_its_own_heading_is_changed_whatever_its_number():
    after = [("Preamble", text(60)), *CONTRACT[:2], ("Fees", text(61)), *CONTRACT[3:]]
    found = rows(revise(numbered(*CONTRACT), numbered(*after, id="b")))
    assert found["1. Preamble"].status == "added"
    assert found["4. Fees"].status == "changed" and found["4. Fees"].was == ("3. Fees",)


def test_a_section_that_was_split_and_two_that_were_merged_are_told_as_such():
    long = "\n\n".join(text(n) for n in range(70, 74))
    first, second = long.split("\n\n")[:2], long.split("\n\n")[2:]
    before = [CONTRACT[0], ("Payment", long), *CONTRACT[1:4]]
    after = [CONTRACT[0], ("Payment", "\n\n".join(first)), ("Late payment", "\n\n".join(second)), *CONTRACT[1:4]]
    split = rows(revise(numbered(*before), numbered(*after, id="b")))
    assert split["2. Payment"].status == split["3. Late payment"].status == "split"
    assert split["3. Late payment"].was == ("2. Payment",) and split["3. Late payment"].same >= 120
    merged = rows(revise(numbered(*after), numbered(*before, id="b")))
    assert merged["2. Payment"].status == "merged" and merged["2. Payment"].same >= 240
    assert merged["2. Payment"].was == ("2. Payment", "3. Late payment")
    assert "removed" not in {row.status for row in merged.values()}


def thesis(order: Sequence[int], texts: bool = True, extra: int | None = None, id: str = "a") -> Document:
    """Chapters of three subsections each in some order, numbered as they stand; one may have a new subsection."""
    sections = []
    for number, chapter in enumerate(order, 1):
        sections.append((f"{number} Chapter {'ABCDE'[chapter]}", text(100 * chapter) if texts else ""))
        names = [f"Part {part}" for part in range(1, 4)] + ["New"] * (chapter == extra)
        for place, name in enumerate(names, 1):
            body = text(100 * chapter + place, 80 + 20 * chapter) if name != "New" else text(999)
            sections.append((f"{number}.{place} {name}", body))
    return version(*sections, id=id)


@pytest.mark.parametrize("texts", [True, False])
def test_a_chapter_that_moved_whole_is_one_row_and_one_sentence(texts):
    """Also where its heading has no text of its own, and all chapters have subsections of the same names."""
    revision = revise(thesis([0, 1, 2, 3], texts), thesis([0, 3, 1, 2], texts, id="b"))
    (moved,) = (row for row in revision.sections if row.status == "moved")
    assert (moved.heading, moved.was, moved.before, moved.subsections) == (
        "2 Chapter D",
        ("4 Chapter D",),
        "2 Chapter B",
        3,
    )
    assert {row.status for row in revision.sections} == {"unchanged", "renumbered", "moved"}
    assert revision_summary(revision).endswith("moved. “4 Chapter D” moved before “2 Chapter B”.")


def test_a_chapter_that_moved_back_says_what_it_stands_after():
    revision = revise(thesis([0, 1, 2, 3]), thesis([1, 2, 3, 0], id="b"))
    (moved,) = (row for row in revision.sections if row.status == "moved")
    assert (moved.after, moved.before) == ("4 Chapter D", "")


def test_what_is_new_in_a_moved_chapter_has_its_own_row():
    revision = revise(thesis([0, 1, 2, 3]), thesis([0, 3, 1, 2], extra=3, id="b"))
    assert rows(revision)["2.4 New"].status == "added"
    assert [row.heading for row in revision.sections if row.status == "moved"] == ["2 Chapter D"]


def test_no_other_text_stands_between_the_words_of_a_moved_chapter():
    revision = revise(thesis([0, 1, 2, 3]), thesis([0, 3, 1, 2], id="b"))
    for change in ("moved away", "moved here"):
        places = [n for n, block in enumerate(revision.blocks) if any(p.change == change for p in block.pieces)]
        assert places == list(range(places[0], places[0] + 8))
        assert {piece.move for n in places for piece in revision.blocks[n].pieces if piece.change == change} == {1}


def test_a_chapter_without_text_of_its_own_follows_its_subsections_not_its_number():
    """“Chapter 2” is another chapter when the chapters change places."""
    before = version(*(part for n in (1, 2, 3) for part in [(f"Chapter {n}", ""), (f"{n}.1 Text", text(n, 50 * n))]))
    after = [(f"Chapter {n}", "") for n in (1, 2, 3)]
    bodies = [(f"{n}.1 Text", text(seed, 50 * seed)) for n, seed in ((1, 1), (2, 3), (3, 2))]
    found = rows(revise(before, version(*(p for pair in zip(after, bodies, strict=True) for p in pair), id="b")))
    assert found["Chapter 2"].status == "renumbered" and found["Chapter 2"].was == ("Chapter 3",)
    assert found["Chapter 3"].status == "moved" and found["Chapter 3"].subsections == 1


def test_a_moved_and_edited_clause_says_both():
    name, body = CONTRACT[5]
    after = [CONTRACT[0], (name, f"{body} Each party bears its own costs."), *CONTRACT[1:5], CONTRACT[6]]
    row = rows(revise(numbered(*CONTRACT), numbered(*after, id="b")))["2. Force majeure"]
    assert (row.status, row.before, row.edited, row.added) == ("moved", "2. Services", True, 7)


def test_equal_sections_of_a_register_keep_their_numbers():
    """One of many that are the same was deleted: the others are where they were."""
    entries = [(f"{n}. Reserved", "Reserved for later use.") for n in range(1, 200)]
    revision = revise(version(*entries), version(*entries[:90], *entries[91:], id="b"))
    changed = [(row.heading, row.status) for row in revision.sections if row.status != "unchanged"]
    assert changed == [("91. Reserved", "removed")]


def test_nearly_equal_sections_of_a_register_find_each_other():
    chance = random.Random(1)
    lots = [
        f"One chair of oak, sold to {' '.join(random_words(n, 2))} for {chance.randrange(999)}." for n in range(600)
    ]
    before = version(*((f"{n}. Lot", lot) for n, lot in enumerate(lots)))
    kept = [lot.replace("oak", "elm") if n % 5 == 0 else lot for n, lot in enumerate(lots) if n not in range(100, 110)]
    found = revise(before, version(*((f"{n}. Lot", lot) for n, lot in enumerate(kept)), id="b"))
    counts = {
        status: [row.status for row in found.sections].count(status) for status in ("changed", "removed", "added")
    }
    assert counts == {"changed": 118, "removed": 10, "added": 0}


@pytest.mark.parametrize("seed", range(10))
def test_every_section_has_a_row_or_moved_along_and_every_word_is_counted(seed):
    chance = random.Random(seed)
    before = [(f"Name{n}", text(1000 * seed + n, chance.randrange(5, 80))) for n in range(12)]
    after = [
        (name, " ".join(edited(body.split(), chance.choice([0, 0, 0.2, 0.6]), n)))
        for n, (name, body) in enumerate(before)
    ]
    for _ in range(3):
        after.insert(chance.randrange(len(after)), after.pop(chance.randrange(len(after))))
    after.pop(chance.randrange(len(after)))
    after.insert(chance.randrange(len(after)), ("Extra", text(seed + 77)))
    a, b = version(*before), version(*(part for part in after if part[1]), id="b")
    revision = revise(a, b)
    gone = sum(row.status == "removed" for row in revision.sections)
    assert len(revision.sections) - gone + sum(row.subsections for row in revision.sections) == len(b.sections)
    words = sum(
        len(section.heading.split()) + sum(len(p.of(b.text).split()) for p in section.paragraphs)
        for section in b.sections
    )
    assert revision.words("same") + revision.words("added") + revision.words("moved") == words


def test_a_text_without_headings_has_one_row():
    before, after = [text(n) for n in range(4)], [text(n) for n in (0, 2, 1, 3)]
    draft = Draft()
    for paragraph in before:
        draft.paragraph(paragraph)
    other = Draft()
    for paragraph in after:
        other.paragraph(paragraph)
    (row,) = revise(draft.document("a"), other.document("b")).sections
    assert row.status == "changed" and row.moved == 60 and row.same == 180


def test_chinese_clauses_are_matched_by_their_text():
    clauses = [
        ("第一章 总则", "合同双方应当遵守中华人民共和国法律的规定，并承担相应的责任。"),
        ("第二章 不可抗力", "因不可抗力不能履行合同的，根据不可抗力的影响，部分或者全部免除责任。"),
        ("第三章 争议解决", "本合同发生争议的，双方应当协商解决；协商不成的，提交仲裁委员会仲裁。"),
    ]
    audit = ("第二章 审计", "甲方有权每年对乙方的账目和记录进行一次审计，乙方应当提供一切必要的协助和资料。")
    found = rows(revise(version(*clauses), version(clauses[0], audit, clauses[2], id="b")))
    assert {heading: row.status for heading, row in found.items()} == {
        "第一章 总则": "unchanged",
        "第二章 不可抗力": "removed",
        "第二章 审计": "added",
        "第三章 争议解决": "unchanged",
    }


def priced(*tables: list[str], id: str = "a") -> Document:
    draft = Draft()
    for number, rows in enumerate(tables, 1):
        draft.heading(f"Schedule {number}")
        draft.paragraph(f"{TEXT} This is the list of {number}.")
        draft.paragraph("\n".join(rows), "table")
    return draft.document(id)


def changed(before: list[str], after: list[str]) -> list[tuple[str, str, str, str]]:
    (table,) = revise(priced(before), priced(after, id="b")).tables
    assert (table.section, table.status) == ("Schedule 1", "changed")
    return [(cell.row, cell.column, cell.before, cell.after) for cell in table.cells]


def cells(old: str, new: str) -> list[str]:
    return [row.replace(old, new) for row in TABLE]


@pytest.mark.parametrize(
    ("after", "cells"),
    [
        (cells("£85", "£58"), [("Storage", "Price", "£85", "£58")]),
        (cells("Storage", "Storages"), [("Storages", "Item", "Storage", "Storages")]),
        (cells("Price", "Cost"), [("Item", "Cost", "Price", "Cost")]),
        (cells("£5 ", " "), [("Hosting", "Price", "£5", "")]),
        ([*TABLE, "Travel | | mile"], [("Travel", "Item", "", "Travel"), ("Travel", "Unit", "", "mile")]),
        (
            TABLE[:3],
            [
                ("Hosting", name, cell, "")
                for name, cell in zip(("Item", "Price", "Unit"), ("Hosting", "£5", "month"), strict=True)
            ],
        ),
        (
            ["Item | Unit", "Analyst | day", "Storage | TB", "Hosting | month"],
            [(row.split()[0], "Price", row.split()[2], "") for row in TABLE],
        ),
    ],
)
def test_each_cell_that_differs_is_named_by_row_and_column(after, cells):
    assert changed(TABLE, after) == cells


def test_a_row_that_was_put_between_others_changes_none_of_them():
    after = [*TABLE[:2], "Support | £70 | hour", *TABLE[2:]]
    assert [cell[0] for cell in changed(TABLE, after)] == ["Support"] * 3


def test_the_same_table_has_no_row():
    assert revise(priced(TABLE), priced([row.replace(" | ", "  |  ") for row in TABLE], id="b")).tables == ()


def test_tables_that_were_added_or_are_gone_are_told_apart():
    other = ["Place | Fee", "Leeds | £3"]
    a, b = priced(TABLE, other), priced(TABLE, id="b")
    assert [(table.section, table.status) for table in revise(a, b).tables] == [("Schedule 2", "removed")]
    assert [(table.section, table.status) for table in revise(b, a).tables] == [("Schedule 2", "added")]


def test_each_table_is_compared_with_the_one_it_was():
    """Of two tables of one section with new numbers, none is mistaken for the other."""
    a = priced(TABLE, cells("£", "$"))
    b = priced(cells("£85", "£86"), cells("£", "$"), id="b")
    ((cell,),) = (table.cells for table in revise(a, b).tables)
    assert (cell.before, cell.after) == ("£85", "£86")


def test_a_change_is_listed_in_json():
    told = VersionChanges.of(revise(priced(TABLE), priced(cells("£950", "£9,500"), id="b"))).model_dump()["tables"]
    cell = {"row": "Analyst", "column": "Price", "before": "£950", "after": "£9,500"}
    assert told == [{"section": "Schedule 1", "status": "changed", "cells": [cell]}]
