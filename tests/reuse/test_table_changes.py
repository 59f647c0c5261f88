"""Which cells of a table differ between two versions."""

import pytest

from longmatch.documents.document import Document
from longmatch.documents.draft import Draft
from longmatch.render.json import VersionChanges
from longmatch.reuse.revision import revise
from tests.reuse.texts import random_words

TABLE = ["Item | Price | Unit", "Analyst | £950 | day", "Storage | £85 | TB", "Hosting | £5 | month"]
TEXT = " ".join(random_words(1, 40)) + "."


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


def edited(old: str, new: str) -> list[str]:
    return [row.replace(old, new) for row in TABLE]


@pytest.mark.parametrize(
    ("after", "cells"),
    [
        (edited("£85", "£58"), [("Storage", "Price", "£85", "£58")]),
        (edited("Storage", "Storages"), [("Storages", "Item", "Storage", "Storages")]),
        (edited("Price", "Cost"), [("Item", "Cost", "Price", "Cost")]),
        (edited("£5 ", " "), [("Hosting", "Price", "£5", "")]),
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
    a = priced(TABLE, edited("£", "$"))
    b = priced(edited("£85", "£86"), edited("£", "$"), id="b")
    ((cell,),) = (table.cells for table in revise(a, b).tables)
    assert (cell.before, cell.after) == ("£85", "£86")


def test_a_change_is_listed_in_json():
    told = VersionChanges.of(revise(priced(TABLE), priced(edited("£950", "£9,500"), id="b"))).model_dump()["tables"]
    cell = {"row": "Analyst", "column": "Price", "before": "£950", "after": "£9,500"}
    assert told == [{"section": "Schedule 1", "status": "changed", "cells": [cell]}]
