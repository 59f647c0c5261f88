"""A patent-like text: two columns, line numbers in the gutter, numbered paragraphs, headings in capitals."""

import re

from tests.documents.pdf.reading import document, headings, sentences, texts


def test_headings_in_capitals_are_found_in_order():
    assert [heading for _, heading in headings("patent")] == [
        "TECHNICAL FIELD",
        "BACKGROUND OF THE INVENTION",
        "SUMMARY OF THE INVENTION",
        "DETAILED DESCRIPTION OF THE PREFERRED EMBODIMENTS",
        "CLAIMS",
    ]


def test_line_numbers_and_the_running_head_are_gone():
    text = document("patent").text
    assert not re.search(r"(?<!\[)\b\d+\b(?!\])", text)
    assert "B1" not in text


def test_each_numbered_paragraph_is_one_paragraph():
    numbered = [p for p in texts("patent", "text") if p.startswith("[")]
    assert [p[:6] for p in numbered] == [f"[{n:04}]" for n in range(1, 12)]


def test_sentences_go_on_over_columns_without_mixing_them():
    over_columns = (
        "When the load is gone a light return spring lifts the step, the wedge comes free, "
        "and the ladder may be folded with one hand."
    )
    assert over_columns in sentences("patent")
    assert any("In a further test the ladder stood for a month in salt spray." in s for s in sentences("patent"))
