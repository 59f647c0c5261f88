"""A short soak (benchmarks/soak.py runs for an hour): nothing breaks, and the answers are those of a fresh library."""

import json
from pathlib import Path

import pytest
from benchmarks.soak import Soak

from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import made_up_text, write_texts

pytestmark = pytest.mark.slow


def test_mixed_work_leaves_the_answers_of_a_fresh_library(tmp_path: Path, tiny: HybridMatcher) -> None:
    soak = Soak(tmp_path, [made_up_text(seed) for seed in range(300)], 20, tiny, tmp_path / "soak.json")
    told = soak.run(minutes=5, look_every=1.0, steps=24)
    assert told.questions >= 15 and not told.differing and not told.errors
    assert {"add", "change", "prune", "remove", "ask", "pair"} == set(told.steps) and sum(told.steps.values()) == 24
    assert json.loads((tmp_path / "soak.json").read_text())["memory"] == told.memory
    assert max(told.opened) < 200


def test_a_library_opened_once_sees_what_another_handle_commits(
    library: Library, texts: Path, tiny: HybridMatcher
) -> None:
    library.add(texts)
    reader = Library(library.address, tiny, create=False)
    before = list(reader)
    library.add(write_texts(texts, range(20, 22)))
    library.remove("d000.txt")
    assert list(reader) == [id for id in [*before, "d020.txt", "d021.txt"] if id != "d000.txt"]
    assert "d020.txt" in reader and "d000.txt" not in reader
    assert reader.rank("d020.txt", k=1) and reader.show("d021.txt").text == made_up_text(21)


def test_an_empty_library_opened_once_sees_what_another_handle_commits(
    library: Library, texts: Path, tiny: HybridMatcher, tmp_path: Path
) -> None:
    library.add(texts / "d000.txt")
    library.remove("d000.txt")
    reader = Library(library.address, tiny, create=False)
    assert len(reader) == 0
    library.add(texts)
    assert len(reader) == 8


def test_the_tables_are_opened_anew_after_many_commits(tmp_path: Path, tiny: HybridMatcher, texts: Path) -> None:
    library = Library(tmp_path / "library", tiny, settings=LibrarySettings(reopened_after=3))
    library.add(texts)
    opened = library.store.database
    for salt in range(1, 5):
        library.add(write_texts(texts, range(1), salt=salt))
    assert library.store.database is not opened  # what was cached of old versions is gone with it
    assert library.show("d000.txt").text == made_up_text(4000)


def test_a_library_that_was_changed_scores_as_a_fresh_one(
    library: Library, tmp_path: Path, tiny: HybridMatcher
) -> None:
    texts = write_texts(tmp_path / "many", range(60))
    library.add(texts)
    write_texts(texts, range(60, 61))
    library.add(texts)  # one of 61 documents: what the collection says of its words is worked out again
    fresh = Library(tmp_path / "fresh", tiny)
    fresh.add(texts)
    for id in ("d003.txt", "d060.txt"):
        ours, theirs = ([(hit.id, hit.score, hit.probability) for hit in one.rank(id)] for one in (library, fresh))
        assert ours == theirs
    ours, theirs = ({(pair.a, pair.b): pair.score for pair in one.pairs().pairs} for one in (library, fresh))
    assert ours == theirs
