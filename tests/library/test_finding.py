"""`find`: all words in any form, phrases as they stand, and the sentences that have them."""

from pathlib import Path

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.library.finding import Wanted, snippets
from longmatch.library.library import Library

TEXTS = {
    "filter.md": "# Filters\n\nThe **waste\nwater** runs through filters. Nobody was there.\n\n"
    "## Costs\n\nIt is to be paid.\n",
    "water.txt": "Water was a waste here. One filter was left. To be paid is not to pay.\n",
    "snow.txt": "Snow fell on the hills. The road was shut.\n",
    "chinese.txt": "本院认为被告的行为构成违约。判决如下。\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, tiny: HybridMatcher) -> Library:
    place = tmp_path_factory.mktemp("finding")
    (place / "texts").mkdir()
    for name, text in TEXTS.items():
        (place / "texts" / name).write_text(text, encoding="utf-8")
    made = Library(place / "library", tiny)
    made.add(place / "texts")
    return made


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("waste filter", {"filter.md", "water.txt"}),
        ("waste snow", set()),
        ("filtered", {"filter.md", "water.txt"}),
        ('"waste water"', {"filter.md"}),
        ("“Waste Water” filter", {"filter.md"}),
        ('"waste water" snow', set()),
        ('"was a waste"', {"water.txt"}),
        ('"water was"', {"water.txt"}),
        ('"aste water"', set()),
        ('"it is to be"', {"filter.md"}),  # common words alone
        ('"waste snow', set()),  # a lone mark counts for nothing
        ('"waste filter', {"filter.md", "water.txt"}),
        ('"构成违约"', {"chinese.txt"}),
        ("", set()),
        ('""', set()),
        ("it's (odd) \\ [x", set()),
    ],
)
def test_all_words_and_phrases_are_found(library: Library, asked: str, found: set[str]) -> None:
    assert set(library.find_ids(asked)) == found


def test_snippets_are_the_sentences_with_most_of_it_under_their_heading(library: Library) -> None:
    found = snippets(library.show("filter.md"), Wanted.of('"waste water" filter'))
    assert [" ".join(snippet.passage.shown.split()) for snippet in found] == ["The waste water runs through filters."]
    assert found[0].passage.section == "Filters" and found[0].words[-1] == "filters"


def test_no_more_than_a_few_snippets_in_the_order_of_the_text(tmp_path: Path, tiny: HybridMatcher) -> None:
    (tmp_path / "a.txt").write_text("A crane stood. " * 3 + "A crane lifted gold. " + "The crane left. " * 5)
    library = Library(tmp_path / "library", tiny)
    library.add(tmp_path / "a.txt")
    found = snippets(library.show("a.txt"), Wanted.of("crane gold"))
    assert [snippet.passage.text for snippet in found][-1] == "A crane lifted gold." and len(found) == 3
    assert [snippet.passage.start for snippet in found] == sorted(snippet.passage.start for snippet in found)


@pytest.mark.parametrize("asked", ["waste filter", '"was"', '"a waste"'])
def test_a_condition_is_applied_before_the_best_are_taken(library: Library, asked: str) -> None:
    assert library.find_ids(asked, 1, "id = 'water.txt'") == ["water.txt"]
    assert library.find_ids(asked, 1, "id = 'snow.txt' AND words < 0") == []


def test_all_that_contain_the_words_are_found_if_asked(library: Library) -> None:
    assert sorted(library.find_ids("waste filter", None)) == ["filter.md", "water.txt"]
    assert len(library.find_ids("waste filter", 1)) == 1
