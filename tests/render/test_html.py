import json
import re
import time
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from longmatch.documents import Document, Draft, Span, read
from longmatch.matching.match import Alignment, Coverage, Grid, Match, Passage, Term
from longmatch.render.html import render_fragment, render_html, render_matrix
from longmatch.render.output import save
from tests.render.html_page import Page
from tests.render.render_matches import COLLECTION, long_document, made, matched

HOSTILE = "<script>alert(1)</script></textarea></title></style><img src=x onerror=alert(2)> \"quoted\" 'single' &amp;"


def hostile_match() -> Match:
    sections = {
        f"Heading {HOSTILE}": [f"The first sentence holds {HOSTILE} in its middle. Water the orchard twice."],
        "Emoji and scripts": ["🌱 grows. 本院认为水很重要。 المياه مهمة للأشجار جدا. Water the orchard again."],
    }
    a = made(f"Title {HOSTILE}", sections, f"id {HOSTILE}")
    b = made(f"Other {HOSTILE}", sections, "b")
    match = matched(a, b)
    return replace(match, model=HOSTILE, terms=(Term(HOSTILE, 0.5),), parts={HOSTILE: 1.0}, coverage=Coverage(0.5, 1.0))


def data_of(page: Page) -> dict:
    return json.loads(page.find("script", type="application/json")[0].text)


def marks_of(page: Page, side: str) -> list:
    """The marks of one pane: those after its article began and before the next one."""
    starts = [i for i, e in enumerate(page.elements) if e.tag == "article"]
    begin = starts[0] if side == "a" else starts[1]
    end = starts[1] if side == "a" else len(page.elements)
    return [e for e in page.elements[begin:end] if e.tag == "mark"]


def test_hostile_text_adds_no_element_to_the_page():
    page = Page.of(render_html(hostile_match()))
    assert [e.attributes for e in page.find("script")] == [{"type": "application/json", "class": "match-data"}, {}]
    assert not page.find("img")
    assert not page.find("textarea")
    assert len(page.find("style")) == len(page.find("title")) == 1
    assert not page.unmatched


def test_hostile_text_is_shown_as_it_is():
    match = hostile_match()
    page = Page.of(render_html(match))
    assert page.find("title")[0].text == f"{match.a.title} and {match.b.title}"
    assert sum(HOSTILE in e.text for e in page.find("p")) >= 2
    assert HOSTILE in page.find("h1")[0].text
    assert page.find("button", class_="chip")[0].attributes["data-word"] == HOSTILE


def test_no_attribute_runs_script_or_sets_style():
    page = Page.of(render_html(hostile_match()))
    names = {name for e in page.elements for name in e.attributes}
    assert not {name for name in names if name.startswith("on")} and "style" not in names


def test_the_policy_allows_exactly_the_inlined_style_and_script(pair):
    page = Page.of(render_html(pair))
    policy = page.find("meta", http_equiv="Content-Security-Policy")[0].attributes["content"]
    hashes = [
        "'sha256-" + b64encode(sha256(e.text.encode()).digest()).decode() + "'"
        for e in (page.find("style")[0], page.find("script")[-1])
    ]
    assert re.findall(r"'sha256-[^']+'", policy) == hashes
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy


def test_the_page_loads_nothing(pair):
    html = render_html(pair)
    page = Page.of(html)
    assert not {name for e in page.elements for name in e.attributes} & {"src", "href", "srcset", "action", "poster"}
    style = page.find("style")[0].text
    assert "url(" not in style and "@import" not in style
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, not an address that is opened


def test_every_alignment_is_reachable_from_both_sides(pair):
    page = Page.of(render_html(pair))
    data = data_of(page)
    assert len(data["links"]) == len(pair.alignments) > 20
    for side, place in (("a", 0), ("b", 1)):
        marked = {int(n) for mark in marks_of(page, side) for n in mark.attributes["data-p"].split()}
        assert marked == {link[place] for link in data["links"]}


def test_the_marks_of_a_passage_hold_its_text(pair):
    page = Page.of(render_html(pair))
    data = data_of(page)
    for side, document in (("a", pair.a), ("b", pair.b)):
        texts: dict[int, str] = {}
        for mark in marks_of(page, side):
            for number in mark.attributes["data-p"].split():
                texts[int(number)] = texts.get(int(number), "") + mark.text
        assert texts == {n: document.readable[start:end] for n, (start, end) in enumerate(data[side])}


def test_every_paragraph_and_heading_is_shown_in_order(pair):
    page = Page.of(render_html(pair))
    shown = [" ".join(e.text.split()) for e in page.find("p") if "data-at" in e.attributes]
    wanted = [" ".join(p.of(d.readable).split()) for d in (pair.a, pair.b) for p in d.paragraphs]
    assert shown == wanted
    headings = [e.text for e in page.elements if re.fullmatch(r"h[3-6]", e.tag)]
    assert headings == [s.heading for d in (pair.a, pair.b) for s in d.sections if s.heading]


def test_overlapping_passages_share_their_common_stretch():
    a = made("A", {"One": ["abcdefghij klmnop."]})
    start = a.paragraphs[0].start
    whole, part = Passage("", start, start + 10, "One"), Passage("", start + 4, start + 14, "One")
    b = Passage("", start, start + 3, "One")
    grid = Grid(("One",), ("One",), (Span(0, 9),), (Span(0, 9),), np.ones((1, 1), np.float32))
    match = Match(a, a, 1.0, grid, (Alignment(whole, b, 0.9, 0.6), Alignment(part, b, 0.8, 0.4)), "m")
    marks = marks_of(Page.of(render_html(match)), "a")
    assert [(m.text, m.attributes["data-p"]) for m in marks] == [("abcd", "0"), ("efghij", "0 1"), (" klm", "1")]


def test_keyword_and_meaning_passages_carry_their_kind(pair):
    page = Page.of(render_html(pair))
    data = data_of(page)
    first = {n: next(link[4] for link in data["links"] if link[0] == n) for n in range(len(data["a"]))}
    for mark in marks_of(page, "a"):
        strongest = int(mark.attributes["data-p"].split()[0])
        assert mark.attributes["class"].split()[0] == ("keyword" if first[strongest] else "meaning")


def test_a_pair_in_other_words_is_marked_and_one_that_is_no_evidence_is_left_out(pair):
    first, second, *rest = pair.alignments
    silent = tuple(replace(other, evidence=False) for other in rest)
    page = Page.of(render_html(replace(pair, alignments=(replace(first, paraphrase=True), second, *silent))))
    kinds = [" ".join(e.text.split()) for e in page.elements if e.attributes.get("class", "").startswith("kind ")]
    assert kinds[:2] == ["Same meaning, other words", "Same words"]
    assert [link[4] for link in data_of(page)["links"]] == [2, 1]


def test_the_probability_and_its_meaning_are_told_in_words(pair):
    page = Page.of(render_html(pair))
    assert page.find("span", class_="number")[0].text == "31%"
    header = " ".join(page.find("header")[0].text.split())
    assert "The two may belong together. The probability that they belong together is 31%." in header
    assert "57% meaning 31% shared words 12% shared phrases" in header


def test_a_match_without_a_verdict_says_why_and_has_neither_number_nor_bar(pair):
    page = Page.of(render_html(replace(pair, probability=None, why_not="language")))
    header = " ".join(page.find("header")[0].text.split())
    assert "Whether the two belong together cannot be said: longmatch has no statistics of their language." in header
    assert not page.find("span", class_="number") and not page.find("svg", class_="bar")


def test_a_match_of_nothing_distinctive_says_so_above_the_passages(pair):
    html = render_html(replace(pair, probability=0.1, score=0.02))
    (said,) = [e for e in Page.of(html).find("p", class_="notice") if any("strongest" in c for c in e.inside)]
    assert said.text == "Nothing beyond what such documents always share."
    assert html.index(said.text) < html.index('<ol class="cards">')
    assert said.text not in render_html(pair)


def test_the_shares_of_the_shared_words_told_and_of_the_others_sum_to_1(pair):
    terms = (Term("silt", 0.5), Term("loam", 0.25))
    listed = [
        " ".join(li.text.split()) for li in Page.of(render_html(replace(pair, terms=terms))).find("ul", class_="chips")
    ]
    assert listed == ["silt 50% loam 25% other shared words and phrases 25%"]
    assert "other shared words" not in render_html(replace(pair, terms=(Term("silt", 1.0),)))


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        (None, "Whether the two belong together cannot be said: this model's scores are not calibrated."),
        (0.4, "By this model's threshold the two belong together."),
        (0.5, "By this model's threshold the two do not belong together."),
    ],
)
def test_a_model_whose_scores_have_a_meaning_of_their_own_is_not_told_in_the_default_s_words(pair, threshold, words):
    header = Page.of(render_html(replace(pair, measured=False, threshold=threshold))).find("header")[0].text
    header = " ".join(header.split())
    assert words in header and "related" not in header


def test_a_document_read_in_part_is_said_to_be(pair):
    html = render_html(replace(pair, coverage=Coverage(0.63, 1.0)))
    notices = [e.text for e in Page.of(html).find("p", class_="notice")]
    assert notices == [f"Only 63% of “{pair.a.title}” was read."]


def test_the_matrix_shows_every_score_under_its_headings(pair):
    page = Page.of(render_html(pair))
    assert [e.text for e in page.find("th", scope="col")] == list(pair.sections.columns)
    assert [e.attributes["title"] for e in page.find("th", scope="row")] == list(pair.sections.rows)
    cells = [
        float(e.text)
        for e in page.elements
        if e.tag == "button" and re.fullmatch(r"h\d+", e.attributes.get("class", ""))
    ]
    np.testing.assert_allclose(cells, np.asarray(pair.sections.scores).ravel(), atol=0.0051)


def test_scores_of_chance_stay_pale():
    a = made("A", {"One": ["It rained."], "Two": ["It snowed."]})
    spans = (Span(0, 3), Span(4, 8))
    grid = Grid(("One", "Two"), ("One", "Two"), spans, spans, np.array([[0.02, -0.1], [np.nan, 0.05]], np.float32))
    b = made("B", {"One": ["Sun."], "Two": ["Wind."]})
    page = Page.of(render_html(Match(a, b, 0.01, grid, (), "m")))
    shades = [
        int(e.attributes["class"][1:]) for e in page.elements if e.tag == "button" and e.attributes["class"][:1] == "h"
    ]
    assert max(shades) <= 3


def test_ten_cards_show_the_strongest_pairs_with_shared_words_in_bold(pair):
    page = Page.of(render_html(pair))
    cards = page.find("li", class_="card")
    assert [c.attributes["data-link"] for c in cards] == [str(pair.alignments.index(x)) for x in pair.best(10)]
    first = pair.alignments[0]
    assert " ".join(first.a.text.split()) in " ".join(cards[0].text.split())
    bold = {e.text.lower() for e in page.elements if e.tag == "b" and any("quotes" in c for c in e.inside)}
    assert set(first.words) <= bold


def test_within_one_document_the_diagonal_is_no_match():
    document = read(COLLECTION / "pear-block-season-trial.md")
    page = Page.of(render_html(matched(document, document, 1.0)))
    assert len(page.find("span", class_="itself")) == len(document.sections)
    assert len(page.find("h1")) == 1 and not page.find("span", class_="number")
    assert len(page.find("article")) == 2


def test_tables_and_references_are_told_apart_as_not_scored():
    draft = Draft()
    draft.heading("Results")
    draft.paragraph("The yield was the same.")
    draft.paragraph("a | b\n1 | 2", "table")
    draft.paragraph("Figure 1: the yield.", "caption")
    document = draft.document("t")
    page = Page.of(render_html(matched(document, made("B", {"One": ["The yield rose."]}))))
    notes = [e.attributes["data-note"] for e in page.find("p") if "data-note" in e.attributes]
    assert notes == ["table, not scored", "caption"]


def test_markup_of_the_source_is_not_shown():
    text = "Some **bold** word."
    base = made("A", {"One": [text]})
    document = replace(base, plain=base.text.replace("*", " "))
    page = Page.of(render_html(matched(document, document)))
    assert "*" not in page.find("article")[0].text


def test_each_text_names_its_language_and_lets_its_direction_be_found():
    arabic = made("المياه", {"مقدمة": ["المياه مهمة للأشجار جدا في الصيف. الري كل أسبوع يكفي."]})
    page = Page.of(render_html(matched(arabic, made("B", {"One": ["Water."]}))))
    assert [e.attributes["lang"] for e in page.find("article")] == ["ar", "en"]
    assert all(e.attributes["dir"] == "auto" for e in page.find("p") if "data-at" in e.attributes)


def test_a_match_without_alignments_says_so():
    page = Page.of(render_html(matched(made("A", {"One": ["Rain."]}), made("B", {"Two": ["Sun."]}), 0.0)))
    assert "No passage of one answers a passage of the other." in [e.text for e in page.find("p", class_="nothing")]
    assert data_of(page)["links"] == []


def test_documents_without_sections_render():
    empty = Document("e", "Empty", "", ())
    none = Grid((), (), (), (), np.zeros((0, 0), np.float32))
    page = Page.of(render_html(Match(empty, Document("f", "Empty too", "", ()), 0.0, none, (), "m")))
    assert "There are no sections to compare." in [e.text for e in page.find("p", class_="nothing")]


def test_a_section_without_heading_is_called_by_its_first_words():
    draft = Draft()
    draft.paragraph("It rained all day in the long valley of the Ettle.")
    document = draft.document("u", "Untitled")
    page = Page.of(render_html(matched(document, made("B", {"One": ["It rained."]}))))
    assert page.find("th", scope="row")[0].text == "“It rained all day in the …”"


def test_a_matrix_of_300_by_300_is_drawn_with_all_labels_and_scores():
    a, b = long_document(6_000, 300, "one"), long_document(6_000, 300, "two")
    page = Page.of(render_html(matched(a, b)))
    assert not page.find("table")
    canvas = page.find("canvas")[0].attributes
    assert (canvas["width"], canvas["height"]) == ("300", "300")
    values = np.frombuffer(b64decode(data_of(page)["matrix"]["values"]), np.uint8).reshape(300, 300)
    assert values.max() == 66
    assert len([e for e in page.find("li") if "title" in e.attributes]) == 600


def test_two_documents_of_20_000_words_with_3_000_alignments_render_in_two_seconds():
    a, b = long_document(21_000, 40, "one"), long_document(21_000, 40, "two")
    lefts, rights = list(a.sentences), list(b.sentences)
    pairs = [(lefts[i % len(lefts)], rights[(i * 7) % len(rights)]) for i in range(3_000)]
    alignments = tuple(
        Alignment(Passage("", x.start, x.end, "s"), Passage("", y.start, y.end, "s"), 0.5, 1 / 3_000) for x, y in pairs
    )
    match = replace(matched(a, b), alignments=alignments)
    assert min(a.words, b.words) > 20_000
    start = time.process_time()
    html = render_html(match)
    assert time.process_time() - start < 2
    assert len(data_of(Page.of(html))["links"]) == 3_000


@pytest.mark.slow
def test_one_paragraph_of_20_000_passages_renders_in_seconds():
    document = made("A", {"One": [" ".join(f"Line {n} ends." for n in range(20_000))]})
    sentences = list(document.sentences)
    passages = [Passage("", s.start, s.end, "One") for s in sentences]
    alignments = tuple(Alignment(p, p, 0.5, 1 / len(passages)) for p in passages)
    match = replace(matched(document, document, most=1), alignments=alignments)
    start = time.process_time()
    render_html(match)
    assert time.process_time() - start < 8


def test_the_fragment_is_the_comparison_without_the_page_around_it(pair):
    page = Page.of(render_fragment(pair))
    assert page.elements[0].tag == "main"
    assert not page.find("style") and len(page.find("script")) == 1
    assert not page.unmatched and not page.stack


def test_the_matrix_of_a_finer_level_names_headings_and_openings():
    a, b = long_document(2_000, 6, "one"), long_document(2_000, 6, "two")
    match = replace(matched(a, b), grids=lambda level: sentence_grid(a, b))
    html = render_matrix(match, "sentences")
    page = Page.of(html)
    rows = [e for e in page.find("li") if any("drawn-rows" in c for c in e.inside)]
    assert [e.text for e in rows] == [s.heading for s in a.sections]
    data = data_of(page)
    assert sum(int(e.attributes["data-size"]) for e in rows) == len(data["rows"]) == len(list(a.sentences))
    first = next(iter(a.sentences)).of(a.readable).split()
    assert data["openings"][0][0].strip("“”… ").split() == first[:14]
    assert page.find("h2")[0].text == "Sentence by sentence"


def sentence_grid(a: Document, b: Document) -> Grid:
    spans = [tuple(Span(s.start, s.end) for s in d.sentences) for d in (a, b)]
    labels = [tuple(str(n) for n in range(len(side))) for side in spans]
    return Grid(*labels, *spans, np.full((len(spans[0]), len(spans[1])), 0.3, np.float32))


def test_writing_gives_back_the_path_of_the_same_page(pair, tmp_path):
    path = save(pair, tmp_path / "why.html")
    assert path == tmp_path / "why.html"
    assert path.read_bytes().decode("utf-8") == render_html(pair)


def test_half_characters_do_not_keep_a_page_from_being_written(tmp_path):
    broken = replace(made("A", {"One": ["It rained."]}), title="A broken \ud800 sign")
    assert "A broken ? sign" in save(matched(broken, broken), tmp_path / "x.html").read_text("utf-8")
