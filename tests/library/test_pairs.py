"""Pairs and groups of near-duplicates, found without comparing everything with everything."""

import random
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from longmatch.default.explanation import Explanation
from longmatch.default.matcher import HybridMatcher
from longmatch.library.library import Library
from longmatch.library.pairs import grouped
from longmatch.library.settings import LibrarySettings
from longmatch.library.shared_text import ShingleTable
from tests.library.tiny import made_up_text, write_texts


@pytest.fixture(scope="module")
def copies(tiny: HybridMatcher, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Forty documents; three are nearly the same, and two others are."""
    place = tmp_path_factory.mktemp("copies")
    folder, library = write_texts(place / "texts", range(40)), Library(place / "library", tiny)
    for name, number in (("copy-a", 3), ("copy-b", 3), ("copy-c", 8)):
        (folder / f"{name}.txt").write_text(made_up_text(number) + f" Added by {name} later on.")
    library.add(folder)
    return library


def test_near_duplicates_are_grouped(copies: Library) -> None:
    found = copies.pairs(minimum=0.98)
    assert found.groups == (("copy-a.txt", "copy-b.txt", "d003.txt"), ("copy-c.txt", "d008.txt"))
    assert found.pairs[0].score >= found.pairs[-1].score >= 0.98


def all_compared(library: Library) -> dict[tuple[str, str], Explanation]:
    """Every document compared with every other, as `rank` does it."""
    searcher, ids = library.searcher(), list(library)
    encodings = dict(zip(ids, searcher.encodings(ids), strict=True))
    return {(a, b): searcher.explain(encodings[a], encodings[b]) for a, b in combinations(ids, 2)}


def likeness(found: Explanation) -> float:
    return float(found.rarity.calibration.likeness(found.similarities)[0])


def test_every_pair_that_belongs_together_is_found_with_its_probability_and_likeness(copies: Library) -> None:
    exact = all_compared(copies)
    found = {(pair.a, pair.b): pair for pair in copies.pairs(0.3).pairs}
    assert {pair for pair, compared in exact.items() if compared.probability >= 0.3} == found.keys() and found
    for pair, listed in found.items():
        assert listed.probability == pytest.approx(exact[pair].probability, abs=1e-6)
        assert listed.score == pytest.approx(likeness(exact[pair]), abs=1e-6)


def test_relatives_are_listed_by_default_though_they_are_no_copies(
    example_library: Library, answer_key: dict[str, dict[str, str]]
) -> None:
    found = example_library.pairs()
    assert {pair.relation for pair in found.pairs} == {"related"} and len(found.pairs) >= 5
    assert max(pair.score for pair in found.pairs) < 0.8
    assert all(answer_key[pair.a]["group"] == answer_key[pair.b]["group"] for pair in found.pairs)


def test_related_pairs_are_listed_by_their_probability_from_the_minimum_on(example_library: Library) -> None:
    probabilities = [pair.probability for pair in example_library.pairs(0.2).pairs]
    assert probabilities == sorted(probabilities, reverse=True)
    assert [pair.probability for pair in example_library.pairs().pairs] == [p for p in probabilities if p >= 0.5]


def test_related_documents_are_searched_for_up_to_a_limit(tmp_path: Path, tiny: HybridMatcher) -> None:
    settings = LibrarySettings(nearest=12, most_nearest=12, nearly_copies=1.1)  # tiny finds any two sentences alike
    library = Library(tmp_path / "library", tiny, settings=settings)
    library.add(write_texts(tmp_path / "texts", range(110)))
    found = library.pairs(minimum=0.0)  # all that are judged are partners
    assert found.total == found.looked_at <= 110 * 3 * 12 < 110 * 109 / 2


def test_where_few_belong_together_few_pairs_are_looked_at(tmp_path: Path, tiny: HybridMatcher) -> None:
    settings = LibrarySettings(nearly_copies=0.97)  # the tiny model finds any two sentences alike
    library = Library(tmp_path / "library", tiny, settings=settings)
    folder = write_texts(tmp_path / "texts", range(100))
    (folder / "copy.txt").write_text(made_up_text(3) + " Added later on.")
    library.add(folder)
    found = library.pairs(minimum=0.97)
    assert [(pair.a, pair.b) for pair in found.pairs] == [("copy.txt", "d003.txt")]
    assert found.looked_at < 101 * 100 / 2 / 2


def test_a_document_with_many_copies_has_them_all(library: Library, tmp_path: Path) -> None:
    folder = write_texts(tmp_path / "texts", range(20))
    for number in range(30):  # more than are looked at first
        (folder / f"copy-{number:02}.txt").write_text(made_up_text(3) + f" Added as number {number} later on.")
    library.add(folder)
    found = library.pairs(minimum=0.99)
    assert len(found.pairs) == 31 * 30 / 2
    assert len(found.groups) == 1


def test_a_library_of_one_document_has_no_pairs(library: Library, tmp_path: Path) -> None:
    library.add(write_texts(tmp_path / "texts", range(1)))
    assert library.pairs(0.0).pairs == ()


@pytest.fixture(scope="module")
def mixed(tiny: HybridMatcher, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Long unrelated texts; a copy, a version, a pasted passage, and a notice that most of them end with."""
    place = tmp_path_factory.mktemp("mixed")
    folder, library = write_texts(place / "texts", range(0)), Library(place / "library", tiny)
    notice = made_up_text(77, 8)
    texts = {f"t{n:02}": made_up_text(100 + n, 40) for n in range(14)}
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(f"# The {name} report\n\n{text}\n\n{notice}\n")
    other = made_up_text(400, 60)
    pasted = " ".join(texts["t05"].split()[100:220])
    (folder / "copy.md").write_text(f"# The t03 report\n\n{texts['t03'].replace(' ', chr(10))}\n\n{notice}\n")
    (folder / "version.md").write_text(f"# Again\n\n{texts['t04']} {made_up_text(300, 6)}\n\n{notice}\n")
    (folder / "pasted.md").write_text(f"# Pasted\n\n{other}\n\n{pasted}\n\n{made_up_text(401, 40)}\n")
    library.add(folder)
    return library


def test_copies_versions_and_reuse_are_told_apart(mixed: Library) -> None:
    found = {(pair.a, pair.b): pair for pair in mixed.pairs(minimum=1.0).pairs}
    relations = {pair: found[pair].relation for pair in found if found[pair].relation != "related"}
    assert relations == {
        ("copy.md", "t03.md"): "copy",
        ("t04.md", "version.md"): "version",
        ("pasted.md", "t05.md"): "reuse",
    }
    pasted = found["pasted.md", "t05.md"]
    assert pasted.share_b == pytest.approx(120 / 576, abs=0.02)


def test_what_most_documents_end_with_is_no_reuse_in_a_comparison_either(mixed: Library) -> None:
    reuse = mixed.compare("t06.md", "t07.md").reuse
    assert [passage.common for passage in reuse.passages] == [True]
    assert reuse.relation is None and reuse.common_a == pytest.approx(96, abs=4)
    assert not mixed.compare("pasted.md", "t05.md").reuse.passages[0].common


def test_pairs_name_titles_and_the_strongest_passage(mixed: Library) -> None:
    found = mixed.pairs(minimum=1.0, k=3)
    assert len(found.pairs) == 3
    first = found.pairs[0]
    assert (first.relation, first.title_a, first.title_b) == ("copy", "The t03 report", "The t03 report")
    for pair in found.pairs:
        assert pair.passages is not None
        for id, passage in zip((pair.a, pair.b), pair.passages, strict=True):
            assert mixed.show(id).text[passage.start : passage.end] == passage.text


def test_only_the_first_k_are_listed_and_all_are_counted(mixed: Library) -> None:
    found = mixed.pairs(minimum=1.0, k=1)
    assert len(found.pairs) == 1 and found.total == 3


def test_where_no_pair_reaches_the_minimum_the_closest_is_named(library: Library, tmp_path: Path) -> None:
    library.add(write_texts(tmp_path / "texts", range(24)))  # of fewer, nobody could say what their kind shares
    found = library.pairs(minimum=1.0)
    exact = all_compared(library)
    assert found.pairs == () and found.closest is not None
    best = max(exact, key=lambda pair: exact[pair].probability)
    assert (found.closest.a, found.closest.b) == best
    assert found.closest.probability == pytest.approx(exact[best].probability, abs=1e-6)


@pytest.mark.parametrize("entries", [10**6, 500])
def test_documents_that_share_a_rare_passage_are_candidates_also_by_a_sample(mixed: Library, entries: int) -> None:
    table = ShingleTable.of(mixed.store, entries)
    assert (table.rate > 1) == (entries == 500)
    found = table.candidates()
    best = sorted(found, key=lambda pair: -found[pair])[:3]
    assert set(best) == {("copy.md", "t03.md"), ("t04.md", "version.md"), ("pasted.md", "t05.md")}


def test_a_chain_is_no_group():
    names = [f"d{n:02}" for n in range(36)]
    groups = grouped(pairwise(names))
    assert max(map(len, groups)) == 2


def test_a_clique_is_one_and_a_stray_pair_does_not_join_two():
    one, two = [f"a{n}" for n in range(6)], [f"b{n}" for n in range(4)]
    pairs = [*combinations(one, 2), *combinations(two, 2), ("a0", "b0")]
    random.Random(0).shuffle(pairs)
    assert grouped(sorted(pairs, key=lambda pair: pair == ("a0", "b0"))) == (tuple(one), tuple(two))


def test_a_member_that_lacks_few_pairs_still_belongs():
    names = [f"a{n}" for n in range(8)]
    pairs = [pair for pair in combinations(names, 2) if pair not in {("a0", "a7"), ("a1", "a6")}]
    assert grouped(pairs) == (tuple(names),)


def test_members_of_every_group_are_mostly_paired():
    chance = random.Random(3)
    names = [f"n{n:02}" for n in range(30)]
    pairs = [pair for pair in combinations(names, 2) if chance.random() < 0.4]
    for group in grouped(pairs):
        possible = len(group) * (len(group) - 1) / 2
        assert sum(pair in set(pairs) for pair in combinations(group, 2)) >= possible / 2
