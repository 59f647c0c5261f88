"""What documents of a library both name, against the same documents in memory."""

from dataclasses import replace
from pathlib import Path

import pytest

from longmatch.default.calibration import Scale
from longmatch.default.collection import Collection
from longmatch.default.comparison import Comparison
from longmatch.default.matcher import HybridMatcher
from longmatch.documents import Document
from longmatch.documents.read import read, read_text_string
from longmatch.library.library import Library
from longmatch.library.search.score import StoredCandidates
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import WORDS, made_up_text

SIZE = 40


@pytest.fixture(scope="module")
def weighed(tiny: HybridMatcher) -> HybridMatcher:
    calibration = tiny.statistics.calibration
    scales = {**calibration.scales, "named": Scale(2.0, 0.03, 0.001)}
    statistics = replace(tiny.statistics, calibration=replace(calibration, scales=scales))
    return HybridMatcher(tiny.backbone, statistics)


def write(folder: Path, numbers: range) -> Path:
    """Texts with headings for titles; some are words of the texts, some phrases of them, some nobody names."""
    folder.mkdir(exist_ok=True)
    for number in numbers:
        text = made_up_text(number)
        title = (
            WORDS[number].capitalize()
            if number % 3 == 0
            else " ".join(made_up_text(number + 5).split()[2 : 3 + number % 7])
        )
        (folder / f"d{number:03}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return folder


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    return write(tmp_path / "texts", range(SIZE))


@pytest.fixture
def library(tmp_path: Path, weighed: HybridMatcher) -> Library:
    return Library(tmp_path / "library", weighed, settings=LibrarySettings(candidates=4))


@pytest.fixture
def outside() -> Document:
    return replace(read_text_string(made_up_text(500), "asked"), title="River")


def assert_as_in_memory(library: Library, folder: Path, weighed: HybridMatcher, outside: Document) -> None:
    documents = [read(path) for path in sorted(folder.iterdir())]
    everything = weighed.encode(documents)
    collection = Collection.of(everything, weighed.statistics)
    searcher = library.searcher()
    queries = [*weighed.encode([outside]), everything[3], everything[-1]]
    for query in queries:
        expected = collection.similarities(query, ["named"])["named"]
        assert (expected > 0).sum() > 3
        candidates = StoredCandidates([d.id for d in documents], searcher.index)
        assert Comparison(searcher.query(query), candidates).coupling().tolist() == pytest.approx(expected, abs=1e-12)
        best = searcher.score(searcher.query(query), [d.id for d in documents])
        exact = dict(zip((d.id for d in documents), collection.scores(query), strict=True))
        assert dict(zip(best.ids, best.scores, strict=True)) == pytest.approx(exact, abs=1e-3)
        for encoding, value in zip(everything[:6], expected, strict=False):
            assert searcher.explain(query, encoding).similarities["named"][0] == pytest.approx(value, abs=1e-12)


def test_a_fresh_a_grown_and_a_shrunk_library_name_what_memory_names(
    library: Library, texts: Path, weighed: HybridMatcher, outside: Document
) -> None:
    library.add(texts)
    assert_as_in_memory(library, texts, weighed, outside)
    write(texts, range(SIZE, SIZE + 6))
    (texts / "d004.md").write_text("# Council road\n\n" + made_up_text(77))
    library.add(texts)
    assert_as_in_memory(library, texts, weighed, outside)
    for number in (0, 4, 11, SIZE + 1):
        (texts / f"d{number:03}.md").unlink()
    library.add(texts, prune=True)
    assert_as_in_memory(library, texts, weighed, outside)


def test_a_ranking_and_a_comparison_tell_the_same_and_which_names(library: Library, texts: Path) -> None:
    library.add(texts)
    hits = library.rank("d003.md", k=5)
    matches = [library.compare("d003.md", hit.id) for hit in hits]
    assert [match.score for match in matches] == pytest.approx([hit.score for hit in hits], abs=1e-3)
    assert any(match.names for match in matches)


def test_pairs_are_told_by_what_copies_share(library: Library, texts: Path) -> None:
    (texts / "copy.md").write_text((texts / "d005.md").read_text())
    library.add(texts)
    pair = library.pairs(0.9).pairs[0]
    assert (pair.a, pair.b) == ("copy.md", "d005.md")
    assert pair.score == pytest.approx(1, abs=1e-3)


def test_a_library_without_titles_names_nothing(library: Library, texts: Path) -> None:
    for number, path in enumerate(sorted(texts.iterdir())):
        path.write_text(f"# {number}\n\n{made_up_text(number)}")
    library.add(texts)
    searcher = library.searcher()
    assert searcher.index.rarity.titles.terms.size == 0
    assert searcher.explain(*searcher.encodings(["d001.md", "d002.md"])).similarities["named"].tolist() == [0]
    assert len(library.rank("d001.md", k=3)) == 3
