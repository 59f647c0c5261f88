"""A two-column paper made with LaTeX."""

from tests.documents.pdf.reading import FIXTURES, document, headings, sentences, texts


def test_the_title_runs_over_two_lines():
    assert document("paper").title == "Counting Limpets by Night: A Photographic Survey of Three Shores"


def test_headings_come_in_order_with_their_levels():
    assert headings("paper") == [
        (1, "Abstract"),
        (1, "1 Introduction"),
        (1, "2 Methods"),
        (2, "2.1 The three shores"),
        (2, "2.2 Counting rules"),
        (3, "2.2.1 Repeated counts"),
        (1, "3 Results"),
        (1, "4 Discussion"),
        (1, "Acknowledgments"),
        (1, "A Building the camera"),
    ]


def test_every_sentence_of_the_source_is_whole_so_none_is_made_of_two_columns():
    source = " ".join((FIXTURES / "paper.tex").read_text().split())
    whole = [
        "The line was levelled against the nearest tide gauge, so that every photograph has a height above the datum.",
        "On each we fixed four cameras along a line from the upper to the lower shore.",
        "The animals, however, move when the rock is wet and the light is gone.",
        "A submerged camera saw this seven times in the course of one winter.",
    ]
    for sentence in whole:
        assert sentence in source
        assert sentence in sentences("paper")


def test_all_running_sentences_stand_in_the_source():
    source = "".join(filter(str.isalpha, (FIXTURES / "paper.tex").read_text().replace("\\ref{counts}", "")))
    authors, *body = texts("paper", "text")
    assert authors == "Ada Marlow Harbour Institute\nTomas Reyle University of the Coast"
    for paragraph in body:
        assert "".join(filter(str.isalpha, paragraph)) in source


def test_words_hyphenated_at_line_ends_are_joined():
    text = document("paper").text
    for word in ("limpets", "photograph", "photographic", "difference", "without"):
        assert word in text
    assert not [word for word in text.split() if word.endswith("-")]


def test_running_heads_and_page_numbers_are_gone():
    text = document("paper").text
    assert "Counting limpets by night" not in text
    assert text.count("Tidal Pools Quarterly") == 1  # in the references
    assert not [p for p in document("paper").paragraphs if p.of(text).strip().isdigit()]


def test_captions_footnotes_tables_and_references_are_told_apart():
    assert texts("paper", "caption") == [
        "Table 1: Photographs taken and the mean count of limpets in a square, by day and by night.",
        "Figure 1: The camera in its concrete block, seen from the seaward side at low water.",
    ]
    assert [note[:20] for note in texts("paper", "footnote")] == ["1All photographs are", "2Rain was recorded by"[:20]]
    assert any("8120" in table and "Harbour wall" in table for table in texts("paper", "table"))
    assert [entry[:9] for entry in texts("paper", "reference")] == ["Reference", "[1] P. Or", "[2] B. Qu", "[3] L. Va"]


def test_the_mark_of_a_footnote_is_no_part_of_its_sentence():
    assert "The method needs no diver and no boat, and it leaves a record that others can count again." in sentences(
        "paper"
    )


def test_a_paragraph_goes_on_in_the_next_column():
    [paragraph] = [p for p in texts("paper", "text") if p.startswith("We chose an exposed headland")]
    assert paragraph.endswith("above the datum.")
    assert "to the lower shore." in paragraph
