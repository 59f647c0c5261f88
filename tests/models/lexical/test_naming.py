"""Which documents name which, against a search for titles in texts."""

import numpy as np

from longmatch.documents.document import Document
from longmatch.documents.language import words_of
from longmatch.documents.read import read_text_string
from longmatch.models.lexical.naming import Names, naming, title_terms
from longmatch.models.lexical.terms import terms_of

TITLES = ["Mercury (planet)", "Gold Rush", "History of the Lighthouse Keepers", "Orbit", "", "The Sea"]
TEXTS = [
    "The orbit of Mercury is narrow. Nobody named the gold rush here.",
    "The rush for gold was no gold rush of kings. The sea was far.",
    "A history of the lighthouse keepers by the sea. Mercury is used in lamps.",
    "The history of the lighthouse. Of the lighthouse keepers we know little, and of their orbit nothing.",
    "Nothing.",
    "Lighthouse keepers look at the sea.",
]


def documents() -> list[Document]:
    return [read_text_string(text, str(number)) for number, text in enumerate(TEXTS)]


def names_title(text: str, title: str) -> bool:
    """The slow way: the title's words in a row within a sentence."""
    wanted = words_of(title.partition(" (")[0])
    rows = [words_of(sentence) for sentence in text.split(".")]
    return bool(wanted) and any(
        row[i : i + len(wanted)] == wanted for row in rows for i in range(len(row) - len(wanted) + 1)
    )


def test_titles_are_found_where_their_words_stand_in_a_row() -> None:
    found = Names.of(TITLES).found(terms_of(document) for document in documents()).toarray()
    expected = [[names_title(text, title) for title in TITLES] for text in TEXTS]
    split = (3, 2)  # all phrases of three words of this title are there, not in one row: taken for it
    for number, row in enumerate(expected):
        for title, there in enumerate(row):
            if (number, title) != split:
                assert bool(found[number, title]) == there, (TEXTS[number], TITLES[title])


def test_a_title_without_words_is_never_named() -> None:
    assert len(title_terms("")) == len(title_terms("(1984)")) == 0
    assert not Names.of(["", "()"]).found(terms_of(document) for document in documents()).toarray().any()


def test_who_names_the_same_or_each_other_is_alike_and_few_names_say_little() -> None:
    found = Names.of(TITLES).found(terms_of(document) for document in documents())
    rows = naming(found)
    alike = (rows @ rows.T).toarray()
    assert alike[0, 2] > 0  # both name Mercury
    assert alike[3, 0] > 0  # the fourth document's title is named in the first
    assert alike[4, 0] == 0
    assert np.all(np.diagonal(alike) < 0.5)  # nobody names twenty others here
