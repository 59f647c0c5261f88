"""What two documents are to each other."""

from dataclasses import replace

import pytest

from longmatch.documents import Draft
from longmatch.render.json import to_dict
from longmatch.render.wording import shared_text
from tests.render.render_matches import made, matched
from tests.reuse.texts import random_words


def text(seed: int, words: int = 200) -> str:
    return " ".join(random_words(seed, words)) + "."


def compared(a: str, b: str):
    return matched(made("A", {"": [a]}, "a"), made("B", {"": [b]}, "b"))


def test_shared_text_decides_before_the_model():
    match = replace(compared(text(1), text(1)), measured=True, probability=0.01)
    assert match.relation == "copy"
    assert to_dict(match)["relation"] == "copy" and to_dict(match)["revision"] is None


@pytest.mark.parametrize(("probability", "relation"), [(0.9, "related"), (0.1, "unrelated"), (None, None)])
def test_without_it_the_probability_does(probability, relation):
    match = replace(compared(text(1), text(2)), measured=True, probability=probability, threshold=None)
    assert match.relation == relation


def test_versions_tell_what_changed():
    told = to_dict(compared(text(1), f"{text(1)} {text(3, 20)}"))
    assert told["relation"] == "version" and told["revision"]["added"] >= 20
    assert told["reuse"]["share_a"] == pytest.approx(1, abs=0.01)


def test_of_two_versions_all_words_count_those_of_tables_too():
    tables = ("Item | Price\nAnalyst | £950", "Item | Price\nAnalyst | £951")
    drafts = [Draft(), Draft()]
    for draft, table in zip(drafts, tables, strict=True):
        draft.paragraph(text(1))
        draft.paragraph(table, "table")
    (stated, _) = shared_text(matched(*(draft.document(f"{n}.md") for n, draft in enumerate(drafts))))
    assert stated == "The two are versions of one text: >99% of A stands unchanged in B, >99% of B in A."


def test_reused_passages_are_the_characters_of_both_texts():
    match = compared(f"{text(1)} {text(5, 60)}", f"{text(5, 60)} {text(2)}")
    (passage,) = to_dict(match)["reuse"]["passages"]
    for side, document in (("a", match.a), ("b", match.b)):
        assert document.text[passage[side]["start"] : passage[side]["end"]] == passage[side]["text"]
    assert passage["words"] == pytest.approx(60, abs=2) and match.relation == "reuse"


def test_within_one_document_there_is_no_relation():
    document = made("A", {"One": [text(1)], "Two": [text(1)]}, "a")
    match = matched(document, document)
    assert match.relation is None and match.reuse.passages == () and to_dict(match)["reuse"] is None
