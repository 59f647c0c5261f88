"""A judgment with numbered paragraphs, and a Chinese report."""

from tests.documents.pdf.reading import document, headings, texts


def test_numbered_paragraphs_of_a_judgment_are_no_headings():
    assert headings("judgment") == [
        (1, "The dispute"),
        (1, "The law"),
        (2, "Who owns a swarm"),
        (2, "Whether there is a presumption"),
        (1, "Conclusion"),
    ]


def test_numbered_paragraphs_of_a_judgment_are_paragraphs():
    numbered = [p[:2] for p in texts("judgment", "text") if p[:1].isdigit()]
    assert numbered == ["1.", "2.", "3.", "4.", "5.", "6."]


def test_page_numbers_between_dashes_are_gone():
    assert "- 1 -" not in document("judgment").text


def test_chinese_headings_are_found():
    assert headings("chinese") == [(1, "一、调查目的"), (1, "二、调查方法"), (1, "三、主要结果")]
    assert document("chinese").title == "河口湿地候鸟调查报告"


def test_chinese_lines_are_joined_without_blanks():
    text = document("chinese").text
    assert "很难互相比较。" in text
    assert " " not in text


def test_chinese_text_is_split_into_sentences():
    assert document("chinese").language == "zh"
    assert len(list(document("chinese").sentences)) == 7
