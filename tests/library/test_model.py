"""Libraries whose record names a model that this longmatch does not make, as version 0.2.0 wrote them."""

from dataclasses import replace
from pathlib import Path

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from longmatch.library.model import LibraryModel
from longmatch.library.rows import to_table
from longmatch.library.store import Store

CHANGE = "0f3a5c7e9b1d2f40"


def written(place: Path, texts: Path, tiny: HybridMatcher, change: str) -> Path:
    """A library whose record names a change of the backbone, or none, beside the table of what had been learnt."""
    plain = LibraryModel.of(tiny)
    model = replace(plain, change=change, background=CHANGE if change else plain.background)
    store = Store.create(str(place), model)
    assert (f'"change": "{CHANGE}"' in model.to_json()) == bool(change)
    store.put(to_table(tiny.encode([read(path, path.name) for path in sorted(texts.iterdir())])))
    store.tidy()
    store.database.create_table("learnt", data=[{"digest": CHANGE, "base": "", "proof": "{}"}])
    return place


def test_a_library_that_was_adapted_opens_and_says_what_to_do(tmp_path: Path, texts: Path, tiny: HybridMatcher) -> None:
    library = Library(written(tmp_path / "library", texts, tiny, CHANGE), tiny, create=False)
    assert len(library) == 8 and library.show("d001.txt").text == (texts / "d001.txt").read_text()
    for ask in (lambda: library.rank("d001.txt"), library.pairs, lambda: library.add(texts), library.vectors):
        with pytest.raises(LibraryError, match=r"was adapted to its own documents.* longmatch index \S+ --reencode"):
            ask()
    library.reencode()
    fresh = Library(tmp_path / "fresh", tiny)
    fresh.add(texts)
    assert library.summary()["backbone"] == fresh.summary()["backbone"]
    for one in (library, Library(library.address, tiny, create=False)):
        ours, theirs = ([(hit.id, hit.score) for hit in each.rank("d001.txt")] for each in (one, fresh))
        assert [id for id, _ in ours] == [id for id, _ in theirs]
        assert [score for _, score in ours] == pytest.approx([score for _, score in theirs], abs=1e-6)


def test_a_library_whose_adaptation_was_undone_answers_as_one_that_never_was(
    tmp_path: Path, texts: Path, tiny: HybridMatcher, library: Library
) -> None:
    library.add(texts)
    undone = Library(written(tmp_path / "undone", texts, tiny, ""), tiny, create=False)
    ranked = [[(hit.id, hit.score) for hit in one.rank("d001.txt")] for one in (undone, library)]
    assert ranked[0] == ranked[1]
