"""Search in a real browser: from a file, a text or a document to the documents that belong with it."""

import re
import time

import pytest

from longmatch.library.library import Library
from tests.web.conftest import real_server, set_probabilities
from tests.web.page.conftest import AT_REST, EXAMPLES, A, B, root_of

PASTED = (
    "Thoughts on mortar\n\nLime mortar lets an old wall breathe. Cement pointing traps damp in the joints, "
    "so the face of soft stone breaks away. Rake the joint out and point it again with lime putty and sand."
)


def titles(page) -> list[str]:
    return page.locator(".hit h2").all_text_contents()


def test_the_start_lists_the_collection_and_finds_a_document_by_its_words(visit):
    page = visit().open()
    page.wait_for_selector(".document")
    assert page.locator(".chooser .hint").text_content() == "33 documents"
    page.get_by_label("Search this collection").fill("quicksilver")
    page.wait_for_function("() => document.querySelectorAll('.document').length < 10")
    assert "Gold without quicksilver" in page.locator(".document-title").first.text_content()


def test_the_collection_is_sorted_by_length(visit, examples):
    page = visit().open()
    page.wait_for_selector(".document")
    page.get_by_label("Order").select_option("words-descending")
    longest = f"{max(document.words for document in examples.values()):,} words"
    page.wait_for_function("(words) => document.querySelector('.document').textContent.includes(words)", arg=longest)
    facts = page.locator(".document .facts").all_text_contents()
    words = [int(re.search(r"([\d,]+) words", line)[1].replace(",", "")) for line in facts]
    assert words == sorted(words, reverse=True)


def test_a_search_that_finds_nothing_says_what_to_try(visit):
    page = visit().open()
    page.wait_for_selector(".document")
    page.get_by_label("Search this collection").fill("zzyzx qqq")
    page.wait_for_selector(".empty")
    assert "Try fewer or other" in page.locator(".empty").text_content()


def test_an_uploaded_file_finds_the_documents_of_its_group(visit, answer_key, tmp_path):
    source = EXAMPLES / A
    copy = tmp_path / "my own copy.md"
    copy.write_text(source.read_text("utf-8").replace("The stream that turned", "My paper"), encoding="utf-8")
    window = visit()
    page = window.open()
    page.set_input_files(".hidden-input", copy)
    page.wait_for_selector(".hit")
    assert page.locator("h1").text_content().startswith("My paper")
    found = page.locator(".hit").evaluate_all("hits => hits.map(hit => hit.dataset.id)")
    group = {file for file, row in answer_key.items() if row["group"] == answer_key[A]["group"]} - {A}
    assert set(found[: len(group)]) == group
    assert page.locator(".same").get_attribute("data-id") == A  # the same text under another name is no hit
    assert "#/search?document=u-" in page.url


def test_a_dropped_file_is_taken(visit):
    page = visit().open()
    page.evaluate("""() => {
      const data = new DataTransfer();
      data.items.add(new File(["# Dropped\\n\\nLime mortar lets old walls breathe, cement does not."], "dropped.md"));
      const drop = document.querySelector(".drop");
      for (const kind of ["dragenter", "dragover", "drop"]) {
        drop.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
      }
    }""")
    page.wait_for_selector(".hit")
    assert page.locator("h1").text_content() == "Dropped"


def test_a_pasted_text_finds_what_says_the_same(visit):
    page = visit().open()
    button = page.locator(".paste .button")
    assert button.is_disabled()
    page.get_by_label("Paste a text").fill(PASTED)
    button.click()
    page.wait_for_selector(".hit")
    assert page.locator("h1").text_content() == "Thoughts on mortar"
    assert page.locator(".hit").first.get_attribute("data-id") in {"pointing-old-walls.md", "tower-repair-report.pdf"}


def test_a_question_is_answered_by_sections_that_lead_to_their_place(visit):
    page = visit().open()
    page.get_by_label("Paste a text").fill("Why does lime mortar suit soft old bricks better than cement?")
    page.locator(".paste .button").click()
    page.wait_for_selector(".section-hit")
    first = page.locator(".section-hit").first
    assert first.get_attribute("data-id") in {"pointing-old-walls.md", "tower-repair-report.pdf"}
    assert first.locator("blockquote b").text_content() and page.locator(".hit").count()
    heading = first.locator("h2").text_content().split(" › ")[-1].split(" ", 1)[-1].strip()
    first.get_by_text("Read it there").click()
    page.wait_for_selector(".reader .text")
    page.evaluate(AT_REST)
    top = page.locator(".text :is(h2, h3, h4)", has_text=heading).first.bounding_box()["y"]
    assert 0 <= top < page.viewport_size["height"]


def test_a_file_that_cannot_be_read_is_named_in_a_sentence_and_another_can_be_chosen(visit, tmp_path):
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and then nothing of the kind")
    window = visit()
    page = window.open()
    page.set_input_files(".hidden-input", broken)
    page.wait_for_selector(".intake .notice")
    assert "broken.pdf" in page.locator(".intake .notice").text_content()
    page.get_by_label("Paste a text").fill(PASTED)
    page.locator(".paste .button").click()
    page.wait_for_selector(".hit")


def test_a_document_of_the_collection_is_a_start_too_and_the_cards_say_why(visit, server):
    window = visit()
    page = window.open()
    page.get_by_label("Search this collection").fill("The stream that turned")
    page.wait_for_function("() => document.querySelector('.document')?.textContent.startsWith('The stream')")
    page.locator(".document").first.click()
    page.wait_for_selector(".hit")
    known = server.get("/rank", params={"document": A}).json()["hits"]
    assert titles(page) == [hit["title"] for hit in known]
    card = page.locator(".hit").first
    assert card.locator(".number").text_content() == "1"
    assert card.locator(".fill").get_attribute("width") == f"{known[0]['probability'] * 100:.1f}"
    assert f"{known[0]['score']:.2f}" not in card.locator(".hit-score").text_content()
    why = known[0]["why"][0]
    assert " ".join(why["b"]["text"].split()) in card.locator(".quotes p").nth(1).text_content()
    assert set(why["words"]) <= {word.lower() for word in card.locator(".quotes b").all_text_contents()}


def test_a_card_says_how_likely_the_document_belongs(visit, examples_library, monkeypatch):
    set_probabilities(monkeypatch, examples_library, 0.999, 0.43, 0.004, None)
    page = visit().open(f"#/search?document={A}")
    page.wait_for_selector(".hit")
    scores = page.locator(".hit-score")
    said = [scores.nth(n).locator(".likely").all_text_contents() for n in range(4)]
    assert said == [["almost certainly (above 99%)"], ["may (43%)"], ["almost certainly not (below 1%)"], []]
    assert page.locator(".order").first.get_attribute("aria-label") == "Place 4 of 10"
    notice = page.locator(".results > .notice").text_content()
    assert notice.startswith("Whether some of these belong with it cannot be said, only which come first")


@pytest.mark.parametrize("width", [1280, 390])
def test_results_of_nothing_close_say_so_above_the_first(visit, examples_library, monkeypatch, width):
    set_probabilities(monkeypatch, examples_library, 0.2, 0.01)
    page = visit(width=width).open(f"#/search?document={A}")
    page.wait_for_selector(".hit")
    notice = page.locator(".results > .notice")
    assert notice.text_content() == "Nothing here shares more than such documents always do; the closest are listed."
    top = notice.bounding_box()
    assert top["y"] + top["height"] <= page.locator(".hit").first.bounding_box()["y"]
    number, likely = (page.locator(f".hit-score {part}").first.bounding_box() for part in (".number", ".likely"))
    assert likely["x"] + likely["width"] <= width and (likely["x"] > number["x"]) == (width == 390)


def test_results_are_filtered_and_sorted_and_the_address_keeps_it(visit):
    page = visit().open(f"#/search?document={A}")
    page.wait_for_selector(".hit")
    everything = titles(page)
    page.get_by_label("Order").select_option("title")
    assert titles(page) == sorted(everything, key=str.casefold)
    page.get_by_label("Filter these results").fill("depositors")
    left = titles(page)
    assert 0 < len(left) < len(everything)
    page.reload()
    page.wait_for_selector(".hit")
    assert titles(page) == left
    page.get_by_label("Filter these results").fill("no such word")
    assert "No result fits the filter" in page.locator(".empty").text_content()


def test_more_results_and_a_condition_are_asked_of_the_server(visit):
    page = visit().open(f"#/search?document={A}")
    page.get_by_text("Show the best 25").click()
    page.wait_for_function("() => document.querySelectorAll('.hit').length === 25")
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Condition").fill("words > 1500")
    page.get_by_text("Apply").click()
    page.wait_for_function(
        "() => document.querySelectorAll('.hit').length > 0 && document.querySelectorAll('.hit').length < 25"
    )
    words = page.locator(".hit .facts").evaluate_all(
        "lines => lines.map(l => Number(l.textContent.split(' ')[0].replace(',', '')))"
    )
    assert min(words) > 1500


def test_a_condition_that_cannot_be_read_is_told_with_a_way_out(visit):
    page = visit().open(f"#/search?document={A}&where=nonsense+is")
    page.wait_for_selector(".error")
    assert page.locator(".error .advice").text_content().strip()
    page.get_by_text("Search without the condition").click()
    page.wait_for_selector(".hit")


def test_an_upload_that_is_gone_says_to_upload_again(visit):
    page = visit().open("#/search?document=u-0123456789abcdef")
    page.wait_for_selector(".error")
    assert "Upload the document again" in page.locator(".error").text_content()
    page.get_by_text("New search").click()
    page.wait_for_selector(".drop")


def test_the_way_back_from_a_comparison_shows_the_same_place_of_the_results(visit):
    window = visit()
    page = window.open(f"#/search?document={A}")
    page.wait_for_selector(".hit")
    last = page.locator(".hit").nth(4)
    last.scroll_into_view_if_needed()
    window.rest()
    before = page.evaluate("scrollY")
    assert before > 300
    last.get_by_text("See why").click()
    page.wait_for_selector(".panes")
    page.go_back()
    page.wait_for_selector(".hit")
    page.wait_for_function("(y) => Math.abs(scrollY - y) < 60", arg=before)


def test_a_document_is_read_with_its_headings_and_leads_on(visit, examples):
    page = visit().open(f"#/document?id={B}")
    document = examples[B]
    assert page.locator("h1").text_content() == document.title
    shown = page.locator(".text p").all_text_contents()
    assert shown == [p.of(document.readable) for p in document.paragraphs]
    page.get_by_text("What belongs with it").click()
    page.wait_for_selector(".hit")


@pytest.mark.parametrize("address", ["", "#/map"])
def test_an_empty_library_says_how_to_fill_it(visit, tmp_path, matcher, address):
    library = Library(tmp_path / "empty", matcher)
    (tmp_path / "one.md").write_text("# One\n\nIt rained.", encoding="utf-8")
    library.add(tmp_path / "one.md")
    library.remove("one.md")
    with real_server(library) as server:
        page = visit(root_of(server)).open(address)
        page.wait_for_selector(".empty")
        assert "longmatch index LIBRARY FILES" in page.locator(".empty").text_content()


def test_a_server_that_is_gone_is_told_with_what_to_do(visit, matcher, tmp_path):
    library = Library(tmp_path / "short", matcher)
    (tmp_path / "one.md").write_text("# One\n\nIt rained.", encoding="utf-8")
    library.add(tmp_path / "one.md")
    with real_server(library) as server:
        window = visit(root_of(server))
        page = window.open("#/map")
    page.evaluate("location.hash = '#/within?document=one.md'")
    page.wait_for_selector(".error")
    assert "longmatch serve" in page.locator(".error").text_content()


def test_a_ranking_that_has_to_wait_says_so_and_can_be_cancelled(visit, server):
    window = visit()
    page = window.open()
    server.state.worker.begin(time.sleep, 3)  # somebody else's long question
    page.evaluate(f"location.hash = '#/search?document={A}'")
    page.wait_for_selector(".working .progress")
    assert page.locator(".working .step").text_content()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_selector(".drop")
    assert page.locator(".hit").count() == 0


def test_an_upload_shows_that_it_is_under_way(visit, server, tmp_path):
    (tmp_path / "slow.md").write_text("# Slow\n\n" + "It rained on the wall. " * 50, encoding="utf-8")
    page = visit().open()
    server.state.worker.begin(time.sleep, 2)  # somebody else's long question
    page.set_input_files(".hidden-input", tmp_path / "slow.md")
    page.wait_for_selector(".intake .working .progress")
    assert "slow.md" in page.locator(".intake .step").text_content()
    page.wait_for_selector(".hit")
