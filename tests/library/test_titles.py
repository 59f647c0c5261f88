"""What the titles of a library say, against the same documents in memory."""

from dataclasses import replace
from pathlib import Path

import pytest

from longmatch.default import rarity
from longmatch.default.calibration import Scale
from longmatch.default.collection import Collection
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read, read_text_string
from longmatch.library.library import Library
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import made_up_text

SIZE = 30


@pytest.fixture(autouse=True)
def _titles_count_in_small_collections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rarity, "TITLED_COLLECTION", (3, 20))


@pytest.fixture(scope="module")
def weighed(tiny: HybridMatcher) -> HybridMatcher:
    calibration = tiny.statistics.calibration
    scales = {**calibration.scales, "title": Scale(0.8, 0.05, 0.01), "cites_title": Scale(3.0, 0.05, 0.2)}
    return HybridMatcher(tiny.backbone, replace(tiny.statistics, calibration=replace(calibration, scales=scales)))


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Under titles of seven words that some other text has."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(SIZE):
        title = " ".join(made_up_text(number + 5).split()[:7])
        (folder / f"d{number:03}.md").write_text(f"# {title}\n\n{made_up_text(number)}\n", encoding="utf-8")
    return folder


@pytest.fixture
def library(tmp_path: Path, weighed: HybridMatcher) -> Library:
    return Library(tmp_path / "library", weighed, settings=LibrarySettings(candidates=4))


def test_a_library_scores_titles_as_memory_does(library: Library, texts: Path, weighed: HybridMatcher) -> None:
    library.add(texts)
    documents = [read(path) for path in sorted(texts.iterdir())]
    ids = [document.id for document in documents]
    everything = weighed.encode(documents)
    held = Collection.of(everything, weighed.statistics)
    assert {"title", "cites_title"} <= set(held.rarity.calibration.sides)
    searcher = library.searcher()
    for query in (*weighed.encode([read_text_string(made_up_text(500), "asked")]), everything[3]):
        exact = dict(zip(ids, held.scores(query).tolist(), strict=True))
        best = searcher.score(searcher.query(query), ids)
        assert dict(zip(best.ids, best.scores, strict=True)) == pytest.approx(exact, abs=1e-3)


def test_a_ranking_and_a_comparison_tell_the_same(library: Library, texts: Path) -> None:
    library.add(texts)
    hits = library.rank("d003.md", k=5)
    matches = [library.compare("d003.md", hit.id) for hit in hits]
    assert [match.score for match in matches] == pytest.approx([hit.score for hit in hits], abs=1e-3)
    assert any(match.parts["cites_title"] > 0 for match in matches)


def test_a_library_made_before_titles_had_vectors_is_asked_and_grows_and_does_not_weigh_them(
    library: Library, texts: Path, weighed: HybridMatcher
) -> None:
    library.add(texts)
    library.store.documents.drop_columns(["title_vector"])
    old = Library(library.address, weighed, settings=LibrarySettings(candidates=4))
    assert len(old.rank("d003.md", k=5)) == 5
    (texts / "new.md").write_text(f"# Council road gate and river bank flood\n\n{made_up_text(77)}\n")
    old.add(texts)
    assert not old.searcher().index.live_column("title_vectors").any()
    hits = old.rank("new.md", k=3)
    matches = [old.compare("new.md", hit.id) for hit in hits]
    assert [match.parts["cites_title"] for match in matches] == [0, 0, 0]


def test_encoding_again_gives_an_old_library_the_vectors_of_its_titles(
    library: Library, texts: Path, weighed: HybridMatcher
) -> None:
    library.add(texts)
    before = [(hit.id, hit.score) for hit in library.rank("d003.md", k=5)]
    library.store.documents.drop_columns(["title_vector"])
    old = Library(library.address, weighed, settings=LibrarySettings(candidates=4))
    assert old.store.lacks_columns
    old.reencode()
    assert not old.store.lacks_columns
    after = [(hit.id, hit.score) for hit in old.rank("d003.md", k=5)]
    assert [id for id, _ in after] == [id for id, _ in before]
    assert [score for _, score in after] == pytest.approx([score for _, score in before], abs=1e-3)
