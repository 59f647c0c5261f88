"""`longmatch pairs`."""

import json

import pytest

from tests.library.tiny import write_texts
from tests.reuse.texts import random_words


@pytest.fixture
def library(longmatch, folder, tmp_path):
    """Of enough documents to know their kind."""
    place = tmp_path / "library"
    write_texts(tmp_path / "more", range(20))
    assert longmatch("index", place, folder, tmp_path / "more").code == 0
    return place


def test_without_a_pair_the_closest_is_named_with_its_passage(longmatch, library):
    ran = longmatch("pairs", library, "--min", 1)
    told = " ".join(ran.out.split())
    assert (
        "No two documents belong together with a probability of 100% or more" in told
        and "The closest are:" in told
        and "“" in told
    )


def test_pairs_are_listed_with_titles_relation_and_passage(longmatch, folder, tmp_path):
    text = " ".join(random_words(1, 120))
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(f"# The title\n\n{text}.\n")
    longmatch("index", tmp_path / "library", folder)
    shown = " ".join(longmatch("pairs", tmp_path / "library", "-k", 1).out.split())
    assert "copy A The title one.md B The title two.md 100% of A is in B, 100% of B is in A, " in shown
    found = longmatch("pairs", tmp_path / "library", "-k", 1, "--json").json
    assert found["pairs"][0]["relation"] == "copy" and found["pairs"][0]["passages"][0]["text"].startswith(text[:40])
    assert found["total"] >= 1 and len(found["pairs"]) == 1


@pytest.fixture
def versions(folder):
    """Three drafts of a contract: one word differs, then a sentence."""
    text = " ".join(random_words(1, 120))
    drafts = (f"{text} the rent is due weekly here {text[::-1]}", f"{text} the rent is due monthly here {text[::-1]}")
    for name, draft in zip(("one", "two", "three"), (*drafts, f"{drafts[1]}. No dog may be kept"), strict=True):
        (folder / f"{name}.md").write_text(f"# Lease\n\n{draft}.\n")
    return folder


def test_a_folder_does_as_a_library_does_and_groups_come_before_pairs(longmatch, versions):
    first, *lines = longmatch("pairs", versions).out.splitlines()
    assert first == "3 near-duplicates: one.md, three.md, two.md"
    assert not any("near-duplicates" in line for line in lines) and (versions / ".longmatch").is_dir()
    (versions / "two.md").unlink()
    assert "two.md" not in longmatch("pairs", versions).out


def test_of_versions_it_is_said_what_differs(longmatch, versions):
    shown = " ".join(longmatch("pairs", versions, "-k", 3).out.split())
    assert "Words from A to B: 1 added, 1 removed, in 1 place “weekly” → “monthly”" in shown
    assert "“weekly” → “monthly” added “No dog may be kept.”" in shown
    pairs = longmatch("pairs", versions, "--json").json["pairs"]
    found = next(pair for pair in pairs if {pair["a"], pair["b"]} == {"one.md", "two.md"})["differences"]
    assert found == {
        "added": 1,
        "removed": 1,
        "moved": 0,
        "places": 1,
        "first": [{"removed": "weekly", "added": "monthly"}],
    }


def test_a_file_of_many_is_read_for_this_once(longmatch, folder, tmp_path):
    rows = [{"id": path.stem, "text": path.read_text(encoding="utf-8")} for path in sorted(folder.iterdir())]
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert "bank" in longmatch("pairs", tmp_path / "all.jsonl", "--min", 0).out
    assert {path.name for path in tmp_path.iterdir()} == {"documents", "all.jsonl"}
    assert "does not exist" in longmatch("pairs", tmp_path / "nowhere").complaint


def test_it_is_said_as_ranking_says_it_whether_a_pair_belongs_together(longmatch, library, folder):
    hits = longmatch("rank", "bank.md", library, "--json").json["hits"]
    pairs = longmatch("pairs", library, "--min", 0, "-k", 500, "--json").json["pairs"]
    said = {hit["id"]: hit["probability"] for hit in hits}
    of_bank = [pair for pair in pairs if pair["a"] == "bank.md" and pair["b"] in said]
    assert of_bank and all(pair["probability"] == pytest.approx(said[pair["b"]], abs=1e-3) for pair in of_bank)
