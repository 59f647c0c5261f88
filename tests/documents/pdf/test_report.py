"""A one-column report made with LibreOffice."""

from tests.documents.pdf.reading import document, headings, texts


def test_the_title_is_found():
    assert document("report").title == "The Flood of the Lower Orlen and What Followed"


def test_entries_of_the_contents_are_no_headings():
    assert headings("report") == [
        (1, "Contents"),
        (1, "What happened"),
        (2, "The river and its dikes"),
        (2, "The night of the breach"),
        (1, "What it cost"),
        (1, "What we recommend"),
    ]


def test_the_contents_are_kept_apart_from_the_running_text():
    [contents] = [table for table in texts("report", "table") if "....." in table]
    assert contents.count("\n") == 4


def test_headers_and_footers_are_gone():
    text = document("report").text
    assert "District of Orlen" not in text
    assert "Page 1 of" not in text


def test_each_item_of_a_list_is_a_paragraph():
    items = [p for p in texts("report", "text") if p.startswith("•")]
    assert [item.split()[-1] for item in items] == ["hours.", "river.", "cleared."]


def test_the_table_its_caption_and_the_footnote_are_told_apart():
    assert any("Dike Street" in table and "430,500" in table for table in texts("report", "table"))
    assert texts("report", "caption") == ["Table 1. Damage reported by the end of June, in crowns."]
    assert texts("report", "footnote") == [
        "1 The campaigns are described in the district archive under the heading of water works."
    ]


def test_paragraphs_know_their_page():
    found = document("report")
    [paragraph] = [p for p in found.paragraphs if p.of(found.text).startswith("Insurance covered")]
    assert paragraph.page == 3
