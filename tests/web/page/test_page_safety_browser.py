"""Documents that mean harm, and servers that ask for a token, in a real browser."""

import json

import pytest

from tests.web.conftest import real_server
from tests.web.page.conftest import EVIL, HOSTILE, A, root_of

TOKEN = "a-token-of-enough-letters"


@pytest.mark.parametrize(
    ("address", "selector"),
    [
        (f"#/search?document={A}&k=50", ".hit h2"),
        pytest.param("#/search?document=hostile", "h1", marks=pytest.mark.slow),
        ("#/document?id=hostile", "h1"),
        pytest.param(f"#/compare?a=hostile&b={A}", ".titles h1", marks=pytest.mark.slow),
        (f"#/compare?a={A}&b=hostile&level=sentences", ".titles h1"),
        ("#/within?document=hostile", ".titles h1"),
    ],
)
def test_a_hostile_document_is_shown_and_not_run(visit, address, selector):
    page = visit().open(address)
    page.wait_for_selector(selector)
    assert any(HOSTILE["title"] in text for text in page.locator(selector).all_text_contents())
    assert page.evaluate("window.ran") is None
    assert page.locator("img, #view script:not([type='application/json']), #view style").count() == 0


def test_hostile_headings_and_text_stand_in_the_comparison_as_they_are(visit):
    page = visit().open(f"#/compare?a=hostile&b={A}")
    page.wait_for_selector(".pane")
    pane = page.locator('.pane[data-side="a"]')
    assert pane.locator("h3").all_text_contents() == [s["heading"] for s in HOSTILE["sections"]]
    assert HOSTILE["sections"][0]["text"] in pane.text_content()
    page.locator("tbody button").first.click()
    page.locator("tbody button").first.hover()
    assert EVIL in page.locator(".tip").text_content()


def test_a_hostile_document_on_the_list_and_the_map_is_only_text(visit):
    page = visit().open()
    page.get_by_label("Search this collection").fill("hostile")
    page.wait_for_function("() => document.querySelector('.document')?.textContent.startsWith('Hostile')")
    page.evaluate("location.hash = '#/map'")
    point = page.locator('.point[data-id="hostile"]')
    point.hover()
    assert page.locator(".tip b").text_content() == HOSTILE["title"]


def test_a_hostile_upload_is_shown_and_not_run(visit, tmp_path):
    bad = tmp_path / "<b>bad.jsonl"
    bad.write_text(json.dumps(HOSTILE | {"id": "u"}), encoding="utf-8")
    page = visit().open()
    page.set_input_files(".hidden-input", bad)
    page.wait_for_selector(".hit")
    assert page.locator("h1").text_content() == HOSTILE["title"]


def test_a_hostile_address_is_no_markup(visit):
    page = visit().open("#/compare?a=<img src=x onerror=alert(1)>&b=y&level=<b>&model=")
    page.wait_for_selector(".error")
    assert page.locator("#view img").count() == 0


def test_markup_made_by_script_is_refused_by_the_policy(visit):
    window = visit()
    page = window.open()
    refused = """() => {
      try { document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>'); return 'done'; }
      catch (error) { return error.name; }
    }"""
    assert page.evaluate(refused) == "TypeError"
    window.problems.clear()  # the browser says that it refused


def test_a_server_with_a_token_asks_for_it_and_opens_with_it(visit, examples_library):
    with real_server(examples_library, token=TOKEN) as server:
        page = visit(root_of(server)).open("#/map")
        page.wait_for_selector(".token")
        page.get_by_label("Token").fill(TOKEN)
        page.get_by_role("button", name="Open").click()
        page.wait_for_selector(".point")


def test_a_token_in_the_address_is_taken_and_removed(visit, examples_library):
    with real_server(examples_library, token=TOKEN) as server:
        page = visit(root_of(server)).open(f"?token={TOKEN}#/search?document={A}")
        page.wait_for_selector(".hit")
        assert TOKEN not in page.url
        page.reload()
        page.wait_for_selector(".hit")
