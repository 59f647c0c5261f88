"""How two versions of a text differ."""

import random

import pytest

from longmatch.documents.document import Document
from longmatch.reuse.revision import Revision, revise
from tests.reuse.texts import document, edited, random_words


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
