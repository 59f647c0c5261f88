"""The page in a real browser: what its script does, and that the policy stops everything else."""

from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import Page

from longmatch.documents import Draft, read
from longmatch.matching.match import Alignment, Coverage, Passage, Term
from longmatch.render.output import save
from tests.browser import chromium
from tests.render.render_matches import COLLECTION, long_document, made, matched
from tests.reuse.texts import random_words

# Whether an element lies inside what its pane shows.
IN_VIEW = """element => {
  const pane = element.closest('.pane').getBoundingClientRect(), box = element.getBoundingClientRect();
  return box.bottom > pane.top + 60 && box.top < pane.bottom && box.top < innerHeight && box.bottom > 0;
}"""

# Resolves when nothing has scrolled for twenty frames: a far jump, and the first pair at the start, are set right over
# several frames, and a smooth way takes its time.
AT_REST = """() => new Promise(done => {
  const places = () => [scrollY, ...[...document.querySelectorAll('.pane')].map(pane => pane.scrollTop)].join();
  let last = places(), still = 0;
  const look = () => {
    still = places() === last ? still + 1 : 0;
    last = places();
    still < 20 ? requestAnimationFrame(look) : done();
  };
  requestAnimationFrame(look);
})"""


# The words of the headings above the matrix that stand on more than one line.
BROKEN_WORDS = """() => [...document.querySelectorAll('.matrix thead th span')].flatMap(heading => {
  const text = heading.firstChild, range = document.createRange();
  return [...text.data.matchAll(/\\S+/g)].filter(word => {
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
  }).map(word => word[0]);
})"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def show(browser, tmp_path):
    """Open a match; afterwards the page must have had no error, no message and no request."""
    opened = []

    def open_match(match, width=1280, height=900, reduced_motion="reduce", **options) -> Page:
        page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion=reduced_motion, **options)
        told: list[str] = []
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("dialog", lambda dialog: (told.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: told.append(request.url) if not request.url.startswith("file:") else None)
        page.goto(save(match, tmp_path / "page.html").as_uri())
        opened.append((page, told))
        return page

    yield open_match
    for page, told in opened:
        page.close()
        assert told == []


def in_view(page: Page, selector: str) -> bool:
    page.evaluate(AT_REST)
    return page.locator(selector).first.evaluate(IN_VIEW)


def test_the_strongest_pair_is_picked_and_in_its_panes_at_the_start(show, pair):
    page = show(pair, height=2600)
    start = pair.alignments[0].a
    assert page.locator('[data-side="a"] mark.picked').first.text_content() == pair.a.readable[start.start : start.end]
    assert in_view(page, '[data-side="a"] mark.picked') and in_view(page, '[data-side="b"] mark.picked')


def test_hovering_a_passage_lights_its_partner(show, pair):
    page = show(pair)
    passage = page.locator('[data-side="a"] mark[data-p="0"]').first
    passage.scroll_into_view_if_needed()
    page.evaluate(AT_REST)  # else the text moves on under the pointer
    passage.hover()
    partner = pair.alignments[0].b
    lit = page.locator('[data-side="b"] mark.lit').all_text_contents()
    assert pair.b.readable[partner.start : partner.end] in lit


def test_clicking_a_passage_brings_its_partner_into_view(show, pair):
    page = show(pair)
    last = len(pair.alignments) - 1
    page.locator('input[value="3"]').check(force=True)
    for number in (last, last // 2, 1):
        passage = page.evaluate(
            "n => JSON.parse(document.querySelector('.match-data').textContent).links[n][0]", number
        )
        mark = page.locator(f'[data-side="a"] mark[data-p="{passage}"]').first
        mark.scroll_into_view_if_needed()
        page.evaluate(AT_REST)
        page.keyboard.press("Escape")
        mark.click()
        assert page.locator('[data-side="a"] mark.picked').count() >= 1
        assert in_view(page, '[data-side="b"] mark.picked')


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_clicking_a_matrix_cell_brings_both_sections_into_view(show, pair, motion):
    page = show(pair, reduced_motion=motion)
    row, column = map(int, np.argwhere(np.asarray(pair.sections.scores) > 0.3)[-1])
    page.locator("tbody tr").nth(row).locator("button").nth(column).click()
    page.evaluate(AT_REST)
    for side, heading in (("a", pair.sections.rows[row]), ("b", pair.sections.columns[column])):
        there = f'[data-side="{side}"] section.there > :first-child'
        assert page.locator(there).text_content() == heading
        assert in_view(page, there)
        top = "h => h.getBoundingClientRect().top - h.closest('.pane').getBoundingClientRect().top"
        assert page.locator(there).evaluate(top) == pytest.approx(52, abs=8)
    assert page.locator("mark.picked").count() >= 2 and page.locator("mark.chosen").count() >= 2


def test_the_filter_leaves_only_one_kind_highlighted(show, pair):
    page = show(pair)
    page.locator('input[value="3"]').check(force=True)
    page.keyboard.press("Escape")
    page.locator('input[value="meaning"]').check(force=True)
    visible = (
        "marks => marks.filter(m => getComputedStyle(m).backgroundColor !== 'rgba(0, 0, 0, 0)').map(m => m.className)"
    )
    page.evaluate(AT_REST)
    shown = page.locator('[data-side="a"] mark').evaluate_all(visible)
    assert shown and all("meaning" in names or "both" in names for names in shown)
    meaning = sum(x.kind == "meaning" for x in pair.alignments)
    page.keyboard.press("n")
    assert page.locator(".place").text_content() == f"1 of {meaning}"


def test_every_pair_is_reached_by_the_next_key(show, pair):
    page = show(pair)
    places = []
    for _ in pair.alignments:
        places.append(page.locator(".place").text_content())
        page.keyboard.press("n")
    total = len(pair.alignments)
    assert places == [f"{n} of {total}" for n in range(1, total + 1)]


def test_the_matrix_is_walked_with_the_arrow_keys(show, pair):
    page = show(pair)
    page.locator("tbody button").first.focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert page.locator('[data-side="a"] section.there > :first-child').text_content() == pair.sections.rows[1]
    assert page.locator('[data-side="b"] section.there > :first-child').text_content() == pair.sections.columns[1]


def test_hostile_text_is_shown_and_not_run(show):
    bad = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    a = made(bad, {bad: [f"Water the orchard {bad} twice."]})
    match = replace(
        matched(a, made("B", {bad: ["Water the orchard."]})), terms=(Term(bad, 1.0),), coverage=Coverage(0.5)
    )
    page = show(match)
    assert bad in page.locator("h1").first.text_content()
    page.locator(".chip").first.click()
    assert page.locator(".chip").first.get_attribute("aria-pressed") == "true"


def test_a_document_with_itself_and_one_without_alignments_open_without_error(show):
    document = read(COLLECTION / "pear-block-season-trial.md")
    show(matched(document, document, 1.0)).locator("tbody button").nth(3).click()
    draft = Draft()
    draft.paragraph("Sun.")
    page = show(matched(made("A", {"One": ["Rain."]}), draft.document("b"), 0.0))
    page.locator("tbody button").first.click()
    assert page.locator("section.there").count() == 2


def test_two_long_documents_are_ready_in_two_seconds_and_jump_to_the_right_place(show):
    a, b = long_document(21_000, 300, "one"), long_document(21_000, 300, "two")
    lefts, rights = list(a.sentences), list(b.sentences)
    pairs = [(lefts[(i * 11) % len(lefts)], rights[(i * 7 + 500) % len(rights)]) for i in range(3_000)]
    alignments = tuple(
        Alignment(Passage("", x.start, x.end, "s"), Passage("", y.start, y.end, "s"), 0.5, 1 / 3_000) for x, y in pairs
    )
    page = show(replace(matched(a, b), alignments=alignments))
    ready = []
    for _ in range(3):  # the quickest of three, where other work slows the machine down
        page.reload()
        ready.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
    assert min(ready) < 2_000
    for _ in range(3):
        page.keyboard.press("n")
        assert in_view(page, '[data-side="a"] mark.picked') and in_view(page, '[data-side="b"] mark.picked')
    page.locator("canvas").click(position={"x": 18 * 20 + 5, "y": 18 * 12 + 5})
    assert page.locator('[data-side="a"] section.there h3').text_content().startswith("Section 12 ")
    assert page.locator('[data-side="b"] section.there h3').text_content().startswith("Section 20 ")
    assert in_view(page, '[data-side="a"] section.there h3') and in_view(page, '[data-side="b"] section.there h3')


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_no_wider_than_the_screen(show, pair, width):
    page = show(pair, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_and_light_have_readable_contrast(show, pair):
    for scheme in ("dark", "light"):
        page = show(pair, color_scheme=scheme)
        ink, paper = page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        assert contrast(ink, paper) > 10


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(x) / 255 for x in colour[4:-1].split(",")]
        return sum(
            w * (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4)
            for w, x in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
        )

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("width", [1400, 1000, 390])
def test_headings_above_the_matrix_break_between_words_only(show, width):
    headings = [
        "Recommendations",
        "What the supervisors knew, and when",
        "Counterparties",
        "Acknowledgements",
        "Summary",
    ]
    other = made("B", {f"{heading} of it": ["Water the orchard at night."] for heading in headings})
    page = show(matched(made("A", {"Watering": ["Water the orchard at night."]}), other), width=width)
    assert page.locator(".matrix thead th").count() == len(headings)
    assert page.evaluate(BROKEN_WORDS) == []


def test_text_that_stands_in_both_is_shown_where_it_stands(show):
    filler, shared = ([" ".join(random_words(seed, 60)) + "." for seed in seeds] for seeds in (range(12), [50]))
    a = made("A", {"One": [*filler[:6], *shared]}, "a")
    b = made("B", {"Two": [*shared, *filler[6:]]}, "b")
    page = show(matched(a, b))
    page.locator(".reuse .show").click()
    page.evaluate(AT_REST)
    text = "() => [...CSS.highlights.get('chosen-part')].map(range => range.toString())"
    assert page.evaluate(text) == [shared[0], shared[0]]
    assert in_view(page, '[data-side="a"] p:last-child')
    page.locator(".strongest .show").first.click()  # the other cards still lead to their passages
    assert page.locator("mark.picked").count() >= 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_redline_can_be_read_in_light_and_dark_and_loads_nothing(browser, tmp_path, scheme):
    one, two = " ".join(random_words(1, 80)) + ".", " ".join(random_words(2, 40)) + "."
    match = matched(made("A", {"One": [one, two]}, "a"), made("B", {"One": [two, one, "A new end."]}, "b"))
    page = browser.new_page(color_scheme=scheme)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(save(match, tmp_path / "changes.html", redline=True).as_uri())
    assert len(asked) == 1
    page.locator("del.moved a").first.click()
    assert page.url.endswith("#here-1") and page.locator("#here-1").is_visible()
    colours = page.locator("article ins").first.evaluate(
        "e => [getComputedStyle(e).color, getComputedStyle(e).textDecorationLine]"
    )
    assert colours[1] == "underline"
    page.close()
