"""The page of subtopics in a real browser."""

import re

import pytest

from tests.browser import chromium
from tests.lab.papers.sst.test_explanation import example


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser, tmp_path):
    """The example opened; afterwards the page must have had no error and no message."""
    opened = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    told: list[str] = []
    opened.on("console", lambda message: told.append(message.text))
    opened.on("pageerror", lambda error: told.append(str(error)))
    opened.goto(example().to_html(tmp_path / "page.html").as_uri())
    yield opened
    opened.close()
    assert told == []


def washed(page):
    """The sentences with a ground of their own."""
    look = "marks => marks.map(m => [m.textContent, getComputedStyle(m).backgroundColor])"
    return [text for text, ground in page.locator("mark").evaluate_all(look) if not re.search(r"[,/] 0\)$", ground)]


def test_shared_sentences_are_washed_and_one_s_own_are_not(page):
    assert washed(page) == ["The river rose.", "The kiln burned.", "Kilns burn clay.", "The river fell."]


def test_a_subtopic_is_one_colour_in_both_texts_and_another_subtopic_another(page):
    colours = page.locator("mark.shared").evaluate_all("all => all.map(m => getComputedStyle(m).backgroundColor)")
    assert colours[0] == colours[3] and colours[1] == colours[2] and colours[0] != colours[1]


def test_choosing_a_subtopic_leaves_it_alone_and_all_brings_the_others_back(page):
    page.locator("label.topic-1").click()
    assert washed(page) == ["The kiln burned.", "Kilns burn clay."]
    page.locator("label.topic-2").click()
    assert not page.locator('[data-side="b"] p[data-at]').is_visible()
    assert page.locator('[data-side="a"] p[data-at]').is_visible()
    page.locator("label.all").click()
    assert len(washed(page)) == 4


def test_subtopics_are_chosen_with_the_keyboard(page):
    page.locator("label.all input").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#topic-0").is_checked()


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_no_wider_than_the_screen(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
