"""Compare and Within in a real browser."""

import json
import re

import numpy as np
import pytest

from longmatch.matching.match import Match
from longmatch.render.output import save
from longmatch.render.wording import chance
from tests.web.page.conftest import A, B

COMPARED = f"#/compare?a={A}&b={B}"
TOP = "h => h.getBoundingClientRect().top - h.closest('.pane').getBoundingClientRect().top"
IN_VIEW = """element => {
  const pane = element.closest('.pane').getBoundingClientRect(), box = element.getBoundingClientRect();
  return box.bottom > pane.top + 40 && box.top < pane.bottom && box.top < innerHeight && box.bottom > 0;
}"""
PARTS = "() => [...(CSS.highlights.get('chosen-part') ?? [])].map(range => range.toString())"


@pytest.fixture(scope="module")
def match(server) -> Match:
    """What the page shows, from the library itself."""
    state = server.state
    return state.worker.begin(state.compare_now, A, B, "default").result(60)


def test_a_comparison_opens_from_the_results(visit, match):
    page = visit().open(f"#/search?document={A}")
    page.locator(f'.hit[data-id="{B}"]').get_by_text("See why").click()
    page.wait_for_selector(".panes")
    assert page.locator(".titles h1").all_text_contents() == [match.a.title, match.b.title]
    assert page.locator(".score .number").text_content() == chance(match.probability)
    assert "What carries it" in page.locator(".carries").text_content()
    assert page.title() == f"{match.a.title} and {match.b.title} · longmatch"


def test_a_matrix_cell_scrolls_both_sides_there_and_lights_its_passages(visit, match):
    window = visit()
    page = window.open(COMPARED)
    window.rest()
    before = page.locator(".pane").evaluate_all("panes => panes.map(pane => pane.scrollTop)")
    row, column = map(int, np.argwhere(match.sections.scores > 0.75 * match.sections.scores.max())[-1])
    page.locator("tbody tr").nth(row).locator("button").nth(column).click()
    window.rest()
    after = page.locator(".pane").evaluate_all("panes => panes.map(pane => pane.scrollTop)")
    assert before[0] != after[0] and before[1] != after[1]
    for side, heading in (("a", match.sections.rows[row]), ("b", match.sections.columns[column])):
        there = page.locator(f'[data-side="{side}"] section.there > :first-child')
        assert there.text_content() == heading
        assert there.evaluate(TOP) == pytest.approx(52, abs=8)
    spans = match.sections.row_spans[row], match.sections.column_spans[column]
    linked = [x for x in match.alignments if x.evidence and overlap(x.a, spans[0]) and overlap(x.b, spans[1])]
    for side, document in (("a", match.a), ("b", match.b)):
        wanted = {document.readable[p.start : p.end] for p in (getattr(x, side) for x in linked)}
        lit = set(page.locator(f'[data-side="{side}"] mark:is(.chosen, .picked)').all_text_contents())
        assert wanted == lit
    strongest = page.locator('[data-side="a"] mark.picked').first
    assert strongest.text_content() == match.a.readable[linked[0].a.start : linked[0].a.end]


def overlap(passage, span) -> bool:
    return passage.start < span.end and passage.end > span.start


def test_hovering_a_passage_lights_its_partner(visit, match):
    window = visit()
    page = window.open(COMPARED)
    passage = page.locator('[data-side="a"] mark[data-p="0"]').first
    passage.scroll_into_view_if_needed()
    window.rest()
    passage.hover()
    partner = match.alignments[0].b
    assert match.b.readable[partner.start : partner.end] in page.locator('[data-side="b"] mark.lit').all_text_contents()


def test_words_and_meaning_are_told_apart_by_more_than_colour(visit):
    page = visit().open(COMPARED)
    line = "mark => getComputedStyle(mark).textDecorationStyle"
    assert page.locator(".legend mark.keyword").evaluate(line) == "solid"
    assert page.locator(".legend mark.meaning").evaluate(line) == "dashed"


def test_the_level_changes_the_matrix_and_the_address_and_leaves_the_texts(visit, match):
    page = visit().open(COMPARED)
    page.evaluate("document.querySelector('.pane').marked = true")
    for level, title in (("chunks", "Passage by passage"), ("sentences", "Sentence by sentence")):
        page.locator(f'input[name="level"][value="{level}"]').check(force=True)
        page.wait_for_selector(f'.sections[data-level="{level}"]')
        assert page.locator(".sections h2").text_content() == title
        assert f"level={level}" in page.url
    canvas = page.locator("canvas")
    rows, columns = np.asarray(match.passages.scores).shape
    assert [canvas.get_attribute("width"), canvas.get_attribute("height")] == [str(columns), str(rows)]
    assert page.evaluate("document.querySelector('.pane').marked") is True


def test_a_cell_of_the_sentences_brings_the_two_sentences_into_view(visit, match):
    window = visit()
    page = window.open(f"{COMPARED}&level=sentences")
    row, column = np.unravel_index(np.argmax(match.passages.scores), match.passages.scores.shape)
    page.locator(".matrix-box").focus()
    for key, times in (("ArrowDown", row), ("ArrowRight", column)):
        for _ in range(int(times)):
            page.keyboard.press(key)
    page.keyboard.press("Enter")
    window.rest()
    spans = match.passages.row_spans[row], match.passages.column_spans[column]
    wanted = [d.readable[s.start : s.end] for d, s in zip((match.a, match.b), spans, strict=True)]
    assert page.evaluate(PARTS) == wanted
    for side in "ab":
        assert page.locator(f'[data-side="{side}"] mark:is(.picked, .chosen)').first.evaluate(IN_VIEW)


def test_the_address_reloaded_shows_the_same(visit):
    page = visit().open(f"{COMPARED}&level=chunks&model=tfidf")
    page.wait_for_selector('.sections[data-level="chunks"]')
    said = page.locator(".verdict .meaning").text_content()
    for _ in range(2):
        assert page.get_by_label("Model").input_value() == "tfidf"
        assert page.locator('input[name="level"][value="chunks"]').is_checked()
        assert page.locator(".verdict .meaning").text_content() == said
        page.reload()
        page.wait_for_selector('.sections[data-level="chunks"]')


def test_another_model_says_what_it_can_and_the_way_back_the_first(visit, match):
    page = visit().open(COMPARED)
    page.get_by_label("Model").select_option("bm25")
    page.wait_for_function("() => document.querySelector('.meaning')?.textContent.includes('are not calibrated')")
    assert page.locator(".verdict .number").count() == 0 and "model=bm25" in page.url
    page.go_back()
    page.wait_for_function(
        "(was) => document.querySelector('.score .number')?.textContent === was", arg=chance(match.probability)
    )


def test_the_exports_are_the_comparison(visit, match, tmp_path):
    page = visit().open(COMPARED)
    with page.expect_download() as saved:
        page.get_by_role("button", name="JSON").click()
    saved.value.save_as(tmp_path / "x.json")
    found = json.loads((tmp_path / "x.json").read_text("utf-8"))
    assert found["score"] == pytest.approx(match.score, abs=1e-6)
    assert len(found["passages"]) == len(match.alignments)
    assert re.fullmatch(r"[a-z0-9-]+\.json", saved.value.suggested_filename)
    with page.expect_download() as saved:
        page.get_by_role("button", name="HTML").click()
    saved.value.save_as(tmp_path / "x.html")
    exported = (tmp_path / "x.html").read_text("utf-8")
    assert exported == save(match, tmp_path / "own.html").read_text("utf-8")


def test_swapping_turns_the_sides_around(visit, match):
    page = visit().open(COMPARED)
    page.get_by_text("Swap").click()
    page.wait_for_function("(title) => document.querySelector('.titles h1')?.textContent === title", arg=match.b.title)
    assert page.locator(".titles h1").all_text_contents() == [match.b.title, match.a.title]


def test_two_documents_are_chosen_one_after_the_other(visit, match, tmp_path):
    (tmp_path / "mine.md").write_text("# Mine\n\nA bank failed when its depositors left.", encoding="utf-8")
    page = visit().open("#/compare")
    first = page.get_by_role("region", name="Document A")
    first.get_by_label("Search this collection").fill("The stream that turned")
    first.locator(".document", has_text="The stream").first.click()
    page.wait_for_selector(".slot.filled")
    second = page.get_by_role("region", name="Document B")
    second.locator(".hidden-input").set_input_files(tmp_path / "mine.md")
    page.wait_for_selector(".panes")
    assert page.locator(".titles h1").all_text_contents() == [match.a.title, "Mine"]


def test_a_comparison_with_something_unknown_says_so_and_offers_another(visit):
    page = visit().open(f"#/compare?a={A}&b=nothing.md")
    page.wait_for_selector(".error")
    assert "nothing.md" in page.locator(".error").text_content()
    page.get_by_text("Choose other documents").click()
    page.wait_for_selector(".slots")


def test_a_shared_word_is_marked_in_both_texts(visit):
    page = visit().open(COMPARED)
    chip = page.locator(".chip").first
    chip.click()
    word = chip.get_attribute("data-word")
    found = page.evaluate("() => [...CSS.highlights.get('shared-word')].map(range => range.toString().toLowerCase())")
    assert len(found) > 2 and set(found) == {word.lower()}


def test_within_one_document_its_sections_stand_against_each_other(visit, examples):
    window = visit()
    page = window.open(f"#/within?document={B}")
    sections = [s.heading for s in examples[B].sections if s.paragraphs]
    assert page.locator("tbody th").all_text_contents() == sections
    assert page.locator("thead th").all_text_contents() == sections
    assert page.locator(".itself").count() == len(sections)
    page.locator("tbody tr").nth(1).locator("button").nth(3).click()
    window.rest()
    there = [page.locator(f'[data-side="{side}"] section.there > :first-child').text_content() for side in "ab"]
    assert there == [sections[1], sections[4]]
    page.locator('input[name="level"][value="chunks"]').check(force=True)
    page.wait_for_selector('.sections[data-level="chunks"]')
    assert f"document={B}" in page.url and "level=chunks" in page.url


def test_within_is_chosen_from_the_collection(visit):
    page = visit().open("#/within")
    page.locator(".document", has_text="Coming back slowly").click()
    page.wait_for_selector(".panes")
    assert page.locator("h1").text_content() == "Coming back slowly"
