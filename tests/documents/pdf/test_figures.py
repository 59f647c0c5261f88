"""One column with a figure the text runs around, captions side by side, line numbers and a stamp up the margin."""

from tests.documents.pdf.reading import document, headings, sentences, texts


def test_the_text_around_a_figure_is_not_mixed_with_its_caption():
    around = (
        "The colour of the fire tells the heat: "
        "dull red, cherry red, orange, and at last a yellow that is almost white."
    )
    assert around in sentences("figures")


def test_captions_side_by_side_are_two_captions():
    assert texts("figures", "caption") == [
        "Figure 1: The spy hole, seen from the side of the chimney.",
        "Figure 2: A glaze that shrank too much and crazed.",
        "Figure 3: A glaze that fits, after ten winters.",
    ]


def test_headings_beside_line_numbers_are_found():
    assert headings("figures") == [(1, "1 Firing"), (1, "2 Glazing")]


def test_line_numbers_and_the_stamp_up_the_margin_are_gone():
    text = document("figures").text
    assert "kiln.org" not in text
    digits = [word for word in text.replace(":", " ").split() if word.isdigit()]
    assert digits == ["1", "1", "2", "2", "3"]  # of the sections and the figures
