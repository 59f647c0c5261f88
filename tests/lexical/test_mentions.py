"""Which titles documents name, against a search for titles in texts."""

import numpy as np
import pytest

from longmatch.documents.language import words_of
from longmatch.documents.read import read_text_string
from longmatch.lexical.key_terms import written
from longmatch.lexical.mentions import NO_TERM, Titles, coupling, stack_titles, title_terms
from longmatch.lexical.terms import Hashes, terms_of

TITLES = ["Mercury (planet)", "Gold Rush", "History of the Lighthouse Keepers", "Orbit", "", "The Sea", "Orbit (1984)"]
TEXTS = [
    "The orbit of Mercury is narrow. Nobody named the gold rush here.",
    "The rush for gold was no gold rush of kings. The sea was far.",
    "A history of the lighthouse keepers by the sea. Mercury is used in lamps.",
    "The history of the lighthouse. Of the lighthouse keepers we know little, and of their orbit nothing.",
    "Nothing.",
    "Lighthouse keepers look at the sea.",
]
SPLIT = (3, 2)  # all phrases of three words of this title are there, not in one row: taken for it


def terms(text: str) -> Hashes:
    found = terms_of(read_text_string(text, "text"))
    return np.union1d(found.words.ids, found.phrases.ids)


def names_title(text: str, title: str) -> bool:
    """The slow way: the title's words in a row within a sentence."""
    wanted = words_of(title.partition(" (")[0])
    rows = [words_of(sentence) for sentence in text.split(".")]
    return bool(wanted) and any(
        row[i : i + len(wanted)] == wanted for row in rows for i in range(len(row) - len(wanted) + 1)
    )


def rows(found: Hashes) -> set[tuple[int, ...]]:
    return {tuple(row) for row in found.tolist()}


def test_titles_are_found_where_their_words_stand_in_a_row() -> None:
    titles = Titles.of(stack_titles([title_terms(title) for title in TITLES]))
    for number, text in enumerate(TEXTS):
        named = [t for n, t in enumerate(TITLES) if names_title(text, t) or (number, n) == SPLIT]
        found = titles.mentioned(terms(text), stack_titles([]))
        assert rows(found.terms) == {tuple(title_terms(title).tolist()) for title in named}, text
        counted = [sum(np.array_equal(title_terms(title), row) for title in TITLES) for row in found.terms]
        assert found.documents.tolist() == counted


def test_who_has_a_name_is_found_as_one_by_one() -> None:
    each = [terms(text) for text in TEXTS]
    names = Titles.of(stack_titles([title_terms(title) for title in TITLES])).mentioned(
        np.unique(np.concatenate(each)), stack_titles([])
    )
    document = np.repeat(np.arange(len(each)), [len(one) for one in each])
    found = names.in_documents(document, np.concatenate(each))
    expected = [
        (number, title)
        for number, one in enumerate(each)
        for title, name in enumerate(names.terms)
        if np.isin(name, one).all()
    ]
    assert list(zip(found[0].tolist(), found[1].tolist(), strict=True)) == expected
    assert len(expected) > 5


def test_a_title_that_is_not_the_collections_can_be_named_too_and_is_counted_as_nobodys() -> None:
    titles = Titles.of(stack_titles([title_terms("Orbit")]))
    found = titles.mentioned(
        terms("The orbit of Pluto."), stack_titles([title_terms(t) for t in ("Pluto", "Orbit", "Mars", "")])
    )
    counts = {tuple(row): count for row, count in zip(found.terms.tolist(), found.documents.tolist(), strict=True)}
    assert counts == {tuple(title_terms("Orbit").tolist()): 1, tuple(title_terms("Pluto").tolist()): 0}


@pytest.mark.parametrize("title", ["", "(1984)", "1984", "12.3", "…"])
def test_a_title_without_letters_is_never_named(title: str) -> None:
    assert title_terms(title).tolist() == [NO_TERM] * 4
    text = terms("In 1984 there were 12.3 and 3.")
    assert not len(Titles.of(stack_titles([title_terms(title)])).mentioned(text, stack_titles([title_terms(title)])))


def test_a_collection_without_titles_names_nothing() -> None:
    names = Titles.of(stack_titles([])).mentioned(terms(TEXTS[0]), stack_titles([]))
    found = names.in_documents(np.array([0, 1]), np.array([title_terms("")[0]] * 2))
    assert not len(found[1])
    assert coupling(*found, np.zeros(0), 100, np.array([10, 20])).tolist() == [0, 0]


def test_chinese_titles_are_found_by_their_characters() -> None:
    titles = Titles.of(stack_titles([title_terms("量子力学"), title_terms("光")]))
    assert len(titles.mentioned(terms("他学习量子力学。"), stack_titles([]))) == 1


def test_names_count_by_the_square_of_their_rarity_and_less_in_longer_documents() -> None:
    names = Titles.of(stack_titles([title_terms("Pluto"), title_terms("Mars")])).mentioned(
        terms("Pluto and Mars."), stack_titles([])
    )
    found = names.in_documents(np.array([0, 1, 1]), np.array([names.terms[0, 0], *names.terms[:, 0]]))
    rarity = np.array([0.5, 1.0])
    expected = [100 * 0.25 / 1000, 100 * 1.25 / np.sqrt(1000 * 2500)]
    assert coupling(*found, rarity, 500, np.array([500, 2000])) == pytest.approx(expected)
    assert coupling(*found, rarity * 100, 500, np.array([500, 2000])).tolist() == [1, 1]


def test_a_name_is_written_as_it_stands_in_the_text() -> None:
    sentence = "They read the “History of the  Lighthouse Keepers” of 1984."
    first, *_, last = title_terms("history of the lighthouse keepers")
    assert written(first, last, sentence) == "History of the  Lighthouse Keepers"
    assert written(last, first, sentence) == ""
    assert written(*title_terms("lighthouse")[:2], sentence) == "Lighthouse"


def test_the_usual_title_has_one_term_up_to_three_words_and_four_from_six_on():
    def usual(*titles: str) -> float:
        return Titles.of(stack_titles([title_terms(title) for title in titles])).mean_terms

    assert usual("Mercury", "Alan Turing", "The Enigma machine") == 1
    assert usual("On the shapes of growing plants") == 4
    assert usual("Mercury", "On the shapes of growing plants", "1984") == 2.5  # numbers name nothing
    assert usual("", "12") == 0
