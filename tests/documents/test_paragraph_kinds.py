"""The headings above a heading."""

import pytest

from longmatch.documents.paragraph_kinds import parents

OPINION = [
    (1, "SMITH v. JONES"),
    (1, "I"),
    (1, "A"),
    (1, "B"),
    (1, "II. The Merits"),
    (1, "A. Waiver"),
    (1, "1. The Contract"),
    (1, "2. The Letters"),
    (1, "a. In May"),
    (1, "B. Standing"),
    (1, "C. Damages"),
    (1, "D. Costs"),
    (1, "III"),
    (1, "CONCLUSION"),
    (1, "A. Appendix"),
]


@pytest.mark.parametrize(
    ("heading", "above"),
    [
        (1, ()),
        (3, ("I",)),
        (4, ()),
        (7, ("II. The Merits", "A. Waiver")),
        (8, ("II. The Merits", "A. Waiver", "2. The Letters")),
        (9, ("II. The Merits",)),
        (11, ("II. The Merits",)),
        (12, ()),
        (14, ()),
    ],
)
def test_the_parts_of_an_opinion_stand_under_those_of_the_next_kind_of_number(heading, above):
    assert parents(OPINION[: heading + 1]) == above


def test_levels_decide_before_numbers():
    headings = [(1, "Part I"), (2, "The tower"), (3, "A"), (3, "B"), (2, "The bells")]
    assert [parents(headings[:count]) for count in range(1, 6)] == [
        (),
        ("Part I",),
        ("Part I", "The tower"),
        ("Part I", "The tower"),
        ("Part I",),
    ]


def test_a_letter_after_c_that_is_a_roman_number_too_goes_on_with_the_letters():
    headings = [(1, "II"), *((1, f"{letter}.") for letter in "ABCDEFGHI")]
    assert parents(headings) == ("II",)


def test_appendices_and_years_and_ordinary_headings_stand_under_nothing():
    for last in ("A Proofs", "B. Further tables", "Acknowledgements", "2019", "USA", ""):
        assert parents([(1, "1 Introduction"), (1, "6 Conclusion"), (1, last)]) == ()
