"""HTML: the page's own text, words never run together."""

import time

import pytest

from longmatch.documents.html import draft_html, parse_page
from tests.documents.shapes import kinds, outline


def test_headings_are_sections(opened):
    document = opened("a.html", "<h1>One</h1><p>Text one.<h2>Two</h2><p>Text two.</p>")
    assert outline(document) == [(1, "One", ["Text one."]), (2, "Two", ["Text two."])]


@pytest.mark.parametrize(
    ("title", "heading", "shown"),
    [("Rain - The Site", "Rain", "Rain"), ("Rain", "About", "Rain"), ("", "Rain", "Rain"), ("A &amp; B", "", "A & B")],
)
def test_the_title_is_the_pages_less_the_sites_name(opened, title, heading, shown):
    assert opened("a.html", f"<title>{title}</title><h1>{heading}</h1><p>Text here.</p>").title == shown


def test_inline_marks_do_not_part_words_and_blocks_do(opened):
    document = opened(
        "a.html", "<div>It <b>ra</b>ins<i>.</i><div>In</div>Spain</div><p>a<br>b</p><p>x<span> y</span></p>"
    )
    assert [words for _, words in kinds(document)] == ["It rains.", "In", "Spain", "a\nb", "x y"]


def test_two_line_breaks_end_a_paragraph(opened):
    assert [w for _, w in kinds(opened("a.htm", "One here.<br><br>Two\nhere.<BR/> <br/>Three."))] == [
        "One here.",
        "Two here.",
        "Three.",
    ]


@pytest.mark.parametrize(
    "noise",
    [
        "<nav>no</nav>",
        "<script>no</script>",
        "<style>no</style>",
        "<footer>no</footer>",
        "<header><p>no</p></header>",
        "<aside>no</aside>",
        "<div hidden>no</div>",
        "<p style='display: none'>no</p>",
        "<div aria-hidden=true>no</div>",
        "<div class='cookie-banner'>no</div>",
        "<div id='CookieConsentDialog'>no</div>",
        "<div role=navigation>no</div>",
        "<ul class='breadcrumb'><li>no</ul>",
        "<noscript>no</noscript>",
        "<template>no</template>",
        "<!-- no -->",
        "<svg><title>no</title><text>no</text></svg>",
        "<button>no</button>",
    ],
)
def test_what_is_no_part_of_the_text_is_left_out(opened, noise):
    assert kinds(opened("a.html", f"<body>{noise}<p>Words stay.</p>{noise}</body>")) == [("text", "Words stay.")]


def test_a_section_on_cookies_is_text(opened):
    document = opened(
        "a.html", "<section id=cookies class='with-sidebar'><h2 id=consent>Consent</h2><p>Eat.</p></section>"
    )
    assert outline(document) == [(2, "Consent", ["Eat."])]


def test_a_heading_in_the_pages_header_is_kept(opened):
    assert opened("a.html", "<header><h1>Rain</h1><p>menu</p></header><p>It rains.</p>").sections[0].heading == "Rain"


def test_only_the_main_part_is_read_where_it_holds_most_of_the_text(opened):
    document = opened("a.html", "<div>Latest news</div><main><h1>Rain</h1><p>It rains a great deal here.</p></main>")
    assert outline(document) == [(1, "Rain", ["It rains a great deal here."])]


def test_a_small_article_does_not_hide_the_rest(opened):
    document = opened("a.html", "<article>Teaser.</article><p>It rains a great deal here, and it always will.</p>")
    assert len(document.paragraphs) == 2


def test_tables_captions_code_notes_and_references_are_told_apart(opened):
    content = (
        "<table><caption>The numbers</caption><tr><th>a<th>b<tr><td>1<td>2</table><figure><img src=x alt=y>"
        "<figcaption>A pier.</figcaption></figure><pre>x = 1\n  y</pre><aside role=doc-footnote>A note.</aside>"
        "<ol class=references><li>Doe 2001.</ol>"
    )
    assert kinds(opened("a.html", content)) == [
        ("caption", "The numbers"),
        ("table", "a | b\n1 | 2"),
        ("caption", "A pier."),
        ("code", "x = 1\n  y"),
        ("footnote", "A note."),
        ("reference", "Doe 2001."),
    ]


def test_a_page_laid_out_with_a_table_is_read_as_text(opened):
    content = "<table><tr><td>Side<td><h1>Rain</h1><p>It rains.</p><table><tr><td>a<td>b</table></table>"
    assert kinds(opened("a.html", content)) == [("text", "Side"), ("text", "It rains."), ("table", "a | b")]


def test_items_without_end_tags_are_paragraphs(opened):
    assert [w for _, w in kinds(opened("a.html", "<ul><li>one<li>two <b>bold</b><li>three</ul>after"))] == [
        "one",
        "two bold",
        "three",
        "after",
    ]


def test_entities_and_the_declared_encoding_are_understood(opened):
    content = "<meta charset=iso-8859-1><p>Caf\xe9 &mdash; na&iuml;ve &#8220;x&#8221;&nbsp;y.</p>".encode("latin-1")
    assert kinds(opened("a.html", content)) == [("text", "Café — naïve “x” y.")]


@pytest.mark.slow
def test_a_page_of_unclosed_elements_nested_very_deep_is_read(opened):
    assert kinds(opened("a.html", "<div>a" * 50_000)) == [("text", "a")] * 50_000


@pytest.mark.parametrize("source", ["<![odd[x]]>", "<![ ", "<![%a;[b", "<![odd"])
def test_a_marked_section_of_an_unknown_kind_is_passed_over(opened, source):
    document = opened("a.html", f"<p>Before.</p>{source}><p>After.</p>")
    assert "Before." in document.text


@pytest.mark.parametrize("last", ["", ">"])
def test_tags_that_never_end_are_passed_over(last):
    assert draft_html(f"<p>Rain.</p>{'<html laCTYPE html6' * 20_000}{last}").document("a").text == "Rain."


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a < 2 <3", ["a < 2 <3"]),
        ("a</>b</ 3>c<?d>e<!f>g", ["abceg"]),
        ("a<!-->b<!--->c<!-- > -->d<!-- --!>e<!-- f", ["abcde"]),
        ("<p/>a<p title='>'>b<p title=\">\">c<p title=x'>d", ["a", "b", "c", "d"]),
        ("<a href=/b/>a</a ><b/>c<BR CLEAR=all>d", ["ac\nd"]),
        ("a<script>if (a </p> b) '<p>'</scripts></SCRIPT >b<script>c", ["a", "b"]),
        ("&amp;lt; &notit; &#x41; &#999999999999; &#" + "9" * 5_000, ["&lt; ¬it; A \ufffd \ufffd"]),
    ],
)
def test_odd_markup_is_understood_as_browsers_do(opened, source, words):
    assert [text for _, text in kinds(opened("a.html", source))] == words


def test_the_name_of_a_cookie_banner_is_recognised_in_time_linear_in_its_length():
    start = time.process_time()
    draft_html(f"<div class='{'cookie' * 20_000}'>Rain.</div>")
    assert time.process_time() - start < 5


@pytest.mark.parametrize("piece", ["<b> </b>", "<table><td>", "<p>a", "</p>", "<i a>", "<!-- >", "<a '", '<a b="'])
def test_pieces_repeated_in_a_cell_are_read_in_time_linear_in_their_number(piece):
    start = time.process_time()
    parse_page(f"<p>Rain.<table><td>a<td>{piece * 10_000}")
    assert time.process_time() - start < 2
