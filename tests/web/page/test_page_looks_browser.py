"""Narrow screens, dark mode, the keyboard: every view."""

import pytest

from tests.web.page.conftest import A, B

VIEWS = {
    "search": "",
    "results": f"#/search?document={A}",
    "compare": f"#/compare?a={A}&b={B}",
    "sentences": f"#/compare?a={A}&b={B}&level=sentences",
    "choosing": "#/compare",
    "within": f"#/within?document={B}",
    "document": f"#/document?id={B}",
    "map": "#/map",
    "error": "#/search?document=u-0123456789abcdef",
}
QUICK = ("results", "compare", "map")
"""What a quick run looks at of each width and scheme."""

STATED = ".hit, .panes, .document, .point, .reader h1, .error"
CONTRAST = """(selector) => {
  const light = (colour) => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!colour.endsWith(', 0)') && !colour.endsWith('/ 0)') && colour !== 'transparent') return colour;
    }
    return getComputedStyle(document.documentElement).backgroundColor;
  };
  return [...document.querySelectorAll(selector)].map(element => {
    const pair = [light(getComputedStyle(element).color), light(ground(element))].sort((x, y) => y - x);
    return (pair[0] + 0.05) / (pair[1] + 0.05);
  });
}"""


def at_length(view: str, *more: str) -> object:
    """A case that a quick run leaves out."""
    return pytest.param(view, *more, marks=pytest.mark.slow)


@pytest.mark.parametrize("view", [view if view in QUICK else at_length(view) for view in VIEWS])
def test_no_view_is_wider_than_a_phone(visit, view):
    page = visit(width=360, height=740).open(VIEWS[view])
    page.wait_for_selector(STATED)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_on_a_phone_the_texts_stand_one_above_the_other_and_a_cell_still_leads_to_both(visit):
    window = visit(width=390, height=844)
    page = window.open(VIEWS["compare"])
    page.locator("tbody tr").nth(2).locator("button").nth(3).click()
    window.rest()
    a, b = (page.locator(f'.pane[data-side="{side}"]').bounding_box() for side in "ab")
    assert a["y"] + a["height"] <= b["y"] and abs(a["x"] - b["x"]) < 2
    assert b["y"] + b["height"] <= 844 + 2
    for side in "ab":
        box = page.locator(f'[data-side="{side}"] section.there > :first-child').bounding_box()
        assert 0 < box["y"] < 844


@pytest.mark.parametrize(
    ("view", "scheme"),
    [
        *[("compare", "dark"), ("compare", "light"), ("results", "dark"), ("map", "light")],
        *[at_length("search", "dark"), at_length("search", "light")],
        *[at_length("results", "light"), at_length("map", "dark")],
    ],
)
def test_text_is_readable_in_both_schemes(visit, view, scheme):
    page = visit(color_scheme=scheme).open(VIEWS[view])
    page.wait_for_selector(STATED)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 27)"
    assert dark == (scheme == "dark")
    assert min(page.evaluate(CONTRAST, "h1, h2, .facts, .hint, nav a, .button:not(:disabled), .lead, .quotes p")) >= 4.5
    if view == "compare":
        assert min(page.evaluate(CONTRAST, ".matrix td button")) >= 4.5


def test_the_reader_s_choice_of_colours_overrules_the_system_s_and_is_kept(visit):
    page = visit(color_scheme="light").open()
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    button = page.locator(".scheme")
    button.click()
    assert button.get_attribute("aria-label") == "Colours: light" and page.evaluate(ground) == light
    button.click()
    assert button.get_attribute("aria-label") == "Colours: dark" and page.evaluate(ground) != light
    page.reload()
    assert page.evaluate(ground) != light


def test_a_drawn_matrix_follows_the_change_of_colours(visit):
    page = visit(color_scheme="light").open(VIEWS["sentences"])
    page.wait_for_selector("canvas")
    changed = "(was) => document.querySelector('canvas').toDataURL() !== was"
    light = page.evaluate("document.querySelector('canvas').toDataURL()")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(changed, arg=light)
    dark = page.evaluate("document.querySelector('canvas').toDataURL()")
    page.locator(".scheme").click()  # light, whatever the system says
    page.wait_for_function(changed, arg=dark)
    assert page.evaluate("document.querySelector('canvas').toDataURL()") == light


def test_everything_is_reached_by_the_keyboard(visit):
    page = visit().open()
    page.wait_for_selector(".document")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()"
            )
        )
    for name in (
        "longmatch",
        "Search",
        "Compare",
        "Within",
        "Map",
        "Choose a file",
        "Paste a text",
        "Search this collection",
        "Order",
    ):
        assert name in seen
    page.get_by_label("Search this collection").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")


def test_the_skip_link_leads_to_the_content_and_keeps_the_address(visit):
    page = visit().open(VIEWS["document"])
    page.wait_for_selector(".reader h1")
    address = page.url
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id === 'view'")
    page.wait_for_url(address)  # the browser goes to the place first, and the page puts the address back
    assert page.locator("h1").count() == 1


def test_the_view_shown_is_marked_in_the_head(visit):
    page = visit().open("#/map")
    assert page.locator("nav [aria-current]").text_content() == "Map"
    page.get_by_role("link", name="Compare").click()
    page.wait_for_selector(".slots")
    assert page.locator("nav [aria-current]").text_content() == "Compare"
