"""Short queries in a language that is not known: a library against the same documents in memory."""

from pathlib import Path

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read, read_text_string
from longmatch.library.library import Library
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import foreign_text


@pytest.fixture
def library(tmp_path: Path, tiny: HybridMatcher) -> Library:
    """One that scores candidates alone, by the frequencies of all documents."""
    return Library(tmp_path / "library", tiny, settings=LibrarySettings(candidates=4))


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(24):
        (folder / f"d{number:03}.txt").write_text(foreign_text(number, 6 + number), encoding="utf-8")
    return folder


def test_a_library_lifts_long_documents_as_memory_does(library: Library, texts: Path, tiny: HybridMatcher) -> None:
    library.add(texts)
    (texts / "d000.txt").unlink()
    library.add(texts, prune=True)
    documents = [read(path) for path in sorted(texts.iterdir())]
    ids = [document.id for document in documents]
    held = tiny.collect(tiny.encode(documents))
    question = tiny.encode([read_text_string(foreign_text(500, 2), "asked")])[0]
    sides = held.similarities(question, ("length",))
    assert sides["length"].max() > 1.1
    exact = dict(zip(ids, tiny.score(question, held).tolist(), strict=True))
    searcher = library.searcher()
    best = searcher.score(searcher.query(question), ids)
    assert dict(zip(best.ids, best.scores, strict=True)) == pytest.approx(exact, abs=1e-3)


def test_a_ranking_and_a_comparison_tell_the_same(library: Library, texts: Path) -> None:
    (texts / "short.txt").write_text(foreign_text(7, 1), encoding="utf-8")
    library.add(texts)
    hits = library.rank("short.txt", k=5)
    matches = [library.compare("short.txt", hit.id) for hit in hits]
    assert [match.score for match in matches] == pytest.approx([hit.score for hit in hits], abs=1e-3)
