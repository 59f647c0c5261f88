"""`longmatch pairs`."""

import pytest

from tests.reuse.texts import random_words


@pytest.fixture
def library(longmatch, folder, tmp_path):
    place = tmp_path / "library"
    assert longmatch("index", place, folder).code == 0
    return place


def test_without_a_pair_the_closest_is_named_with_its_passage(longmatch, library):
    ran = longmatch("pairs", library, "--min", 1)
    told = " ".join(ran.out.split())
    assert (
        "No two documents belong together with a probability of 100% or more" in told
        and "The closest are:" in told
        and "“" in told
    )
    assert "queue.txt" in told


def test_pairs_are_listed_with_titles_relation_and_passage(longmatch, folder, tmp_path):
    text = " ".join(random_words(1, 120))
    for name in ("one", "two"):
        (folder / f"{name}.md").write_text(f"# Title of {name}\n\n{text}.\n")
    longmatch("index", tmp_path / "library", folder)
    shown = " ".join(longmatch("pairs", tmp_path / "library", "-k", 1).out.split())
    assert "copy 1.00 alike A Title of one one.md B Title of two two.md 100% of A is in B, 100% of B is in A, " in shown
    found = longmatch("pairs", tmp_path / "library", "-k", 1, "--json").json
    assert found["pairs"][0]["relation"] == "copy" and found["pairs"][0]["passages"][0]["text"].startswith(text[:40])
    assert found["total"] >= 1 and len(found["pairs"]) == 1


def test_it_is_said_as_ranking_says_it_whether_a_pair_belongs_together(longmatch, library, folder):
    hits = longmatch("rank", "bank.md", library, "--json").json["hits"]
    pairs = longmatch("pairs", library, "--min", 0, "--json").json["pairs"]
    said = {hit["id"]: hit["probability"] for hit in hits}
    of_bank = [pair for pair in pairs if pair["a"] == "bank.md" and pair["b"] in said]
    assert of_bank and all(pair["probability"] == pytest.approx(said[pair["b"]], abs=1e-3) for pair in of_bank)
