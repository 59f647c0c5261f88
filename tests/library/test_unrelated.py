"""What unrelated documents of a library have in common: kept with its index, and renewed with it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from longmatch.default import rarity
from longmatch.default.matcher import HybridMatcher
from longmatch.default.unrelated import Known, Level, Unrelated
from longmatch.documents.read import read
from longmatch.library.library import Library
from longmatch.library.settings import LibrarySettings
from tests.library.tiny import made_up_text, write_texts


def kept(library: Library) -> Unrelated:
    """As the manifest on disk has it."""
    manifest = json.loads((Path(library.address) / "index" / "manifest.json").read_text())
    return Unrelated.from_dict(manifest["unrelated"])


def in_memory(matcher: HybridMatcher, folder: Path) -> Unrelated:
    return matcher.collect(matcher.encode([read(path) for path in sorted(folder.iterdir())])).rarity.unrelated


def assert_close(found: Unrelated, expected: Unrelated) -> None:
    assert found.doubt == pytest.approx(expected.doubt)
    assert set(found.levels) == set(expected.levels)
    for side, level in expected.levels.items():
        assert vars(found.levels[side]) == pytest.approx(vars(level), abs=0.02), side  # stored vectors are halves


def test_the_manifest_keeps_what_memory_finds_in_the_same_documents(
    library: Library, texts: Path, tiny: HybridMatcher, opened: Callable[[], Library]
) -> None:
    library.add(texts)
    assert_close(kept(library), in_memory(tiny, texts))
    assert opened().searcher().index.unrelated == kept(library) == library.searcher().index.unrelated


def test_it_is_renewed_when_the_library_grows_and_when_it_shrinks(
    library: Library, texts: Path, tiny: HybridMatcher
) -> None:
    library.add(texts)
    small = kept(library)
    for number in range(8, 24):
        (texts / f"d{number:03}.txt").write_text(made_up_text(number % 5, 6))
    library.add(texts)
    large = kept(library)
    assert large.levels["words"] != small.levels["words"]
    assert_close(large, in_memory(tiny, texts))
    for path in sorted(texts.iterdir())[:12]:
        path.unlink()
    library.add(texts, prune=True)
    assert kept(library) != large
    assert_close(kept(library), in_memory(tiny, texts))


def test_two_documents_in_a_library_are_doubted_as_by_themselves(library: Library, tiny: HybridMatcher, tmp_path: Path):
    folder = write_texts(tmp_path / "two", range(2))
    library.add(folder)
    assert kept(library) == in_memory(tiny, folder)
    alone = tiny.compare(*(read(path) for path in sorted(folder.iterdir())))
    assert library.compare("d000.txt", "d001.txt").no_verdict == alone.no_verdict


def test_an_empty_library_keeps_the_prior(library: Library, texts: Path, tiny: HybridMatcher) -> None:
    library.add(texts)
    library.remove([path.name for path in texts.iterdir()])
    assert kept(library) == tiny.statistics.prior.unrelated(Known())


def test_an_index_is_made_again_when_the_prior_is_learnt_again(
    library: Library, texts: Path, tiny: HybridMatcher
) -> None:
    library.add(texts)
    before = kept(library)
    prior = tiny.statistics.prior
    raised = {name: {**getattr(prior, name), "words": Level(-1.0, 1.0)} for name in ("known", "general")}
    other = HybridMatcher(tiny.backbone, replace(tiny.statistics, prior=replace(prior, **raised)))
    Library(library.address, other).rank("d001.txt")
    assert kept(library).levels["words"].mean > before.levels["words"].mean + 0.1
    assert_close(kept(library), in_memory(other, texts))


def test_in_a_library_of_titles_the_probability_is_the_same_both_ways_and_that_of_the_ranking(
    tmp_path: Path, tiny: HybridMatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rarity, "TITLED_COLLECTION", (3, 20))
    folder = tmp_path / "titled"
    folder.mkdir()
    for number in range(24):
        title = " ".join(made_up_text(number + 5).split()[: 5 + number % 4])
        (folder / f"d{number:03}.md").write_text(f"# {title}\n\n{made_up_text(number, 4 + number)}\n")
    library = Library(tmp_path / "library", tiny, settings=LibrarySettings(candidates=4))
    library.add(folder)
    assert library.searcher().index.rarity.trust[1] > 0
    for hit in library.rank("d003.md", k=5):
        there, back = library.compare("d003.md", hit.id), library.compare(hit.id, "d003.md")
        assert there.probability == pytest.approx(back.probability, abs=1e-6)
        assert (there.score, there.probability) == pytest.approx((hit.score, hit.probability), abs=1e-6)
