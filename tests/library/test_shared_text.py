"""A text that is added a second time, as in another format or as another version."""

from pathlib import Path

from longmatch.library.library import Library
from tests.library.tiny import made_up_text, write_texts


def test_the_same_text_in_another_format_is_added_and_named(library: Library, tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "texts", range(6))
    library.add(folder)
    (folder / "letter.html").write_text(f"<title>Letter</title><p>{made_up_text(3)}</p>")
    done = library.add(folder)
    assert done.added == ["letter.html"] and len(library) == 7
    assert done.remarks == ["letter.html holds the same text as d003.txt."]
    assert library.add(folder).remarks == []


def test_another_version_is_named_as_one(library: Library, tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "texts", range(6))
    (folder / "draft.txt").write_text(f"{made_up_text(3)} {made_up_text(90, 3)}")
    assert library.add(folder).remarks == ["d003.txt is another version of draft.txt."]


def test_two_copies_added_at_once_are_named_once(library: Library, tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "texts", range(6))
    (folder / "again.txt").write_text(made_up_text(3))
    assert library.add(folder).remarks == ["again.txt holds the same text as d003.txt."]


def test_of_many_copies_the_first_are_named_and_the_others_counted(library: Library, tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "texts", range(11))
    for number in range(11):
        (folder / f"again-{number:03}.txt").write_text(made_up_text(number))
    *first, last = library.add(folder).remarks
    assert first == [f"again-{number:03}.txt holds the same text as d{number:03}.txt." for number in range(10)]
    assert last == "1 more is in the library twice; longmatch pairs lists them."
