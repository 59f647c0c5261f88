"""Adding documents in a real browser, and an upload that the library has."""

import pytest

from longmatch.library.library import Library
from tests.library.tiny import made_up_text, write_texts
from tests.web.conftest import real_server
from tests.web.page.conftest import EXAMPLES, A, root_of


@pytest.fixture(scope="module")
def writable(tmp_path_factory, tiny_web):
    """A server that may add documents to a small library."""
    place = tmp_path_factory.mktemp("adding")
    library = Library(place / "library", tiny_web)
    library.add(write_texts(place / "texts", range(3)))
    with real_server(library, writable=True) as client:
        client.library = library
        yield client


def file(name: str, text: str) -> dict:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


def test_several_files_are_added_and_a_refused_one_says_why(visit, writable):
    page = visit(root_of(writable)).open("#/add")
    files = [file("one.txt", made_up_text(11)), file("bad.xlsx", "x"), file("two.txt", made_up_text(12))]
    page.get_by_label("Choose files to add").set_input_files(files)
    page.wait_for_function("() => document.querySelectorAll('.addition.added, .addition.refused').length === 3")
    assert (
        page.locator(".addition.refused .step").text_content().startswith("bad.xlsx is of a kind that longmatch does")
    )
    assert page.locator(".adding .hint[role=status]").text_content() == "2 documents added, 1 file refused"
    page.wait_for_function("() => document.querySelector('.library-name').textContent.includes('5 documents')")
    assert {"one.txt", "two.txt"} < set(writable.library)


def test_files_go_on_being_added_while_the_reader_looks_elsewhere(visit, writable):
    page = visit(root_of(writable)).open("#/add")
    page.get_by_label("Choose files to add").set_input_files([file("three.txt", made_up_text(13, 60))])
    page.get_by_role("link", name="Map").click()
    page.wait_for_selector(".point")
    page.get_by_role("link", name="Add").click()
    page.wait_for_selector(".addition.added")
    assert "three.txt" in writable.library


def test_a_dropped_file_is_added_and_removed_after_a_second_look(visit, writable):
    page = visit(root_of(writable)).open("#/add")
    dropped = """([name, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name));
      const drop = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
      document.querySelector('.drop').dispatchEvent(drop);
    }"""
    page.evaluate(dropped, ["dropped.txt", made_up_text(14)])
    page.locator(".addition.added a").first.click()
    page.wait_for_selector(".reader h1")
    page.get_by_role("button", name="Remove").click()
    assert "dropped.txt" in writable.library
    page.get_by_role("button", name="Remove it for everybody?").click()
    page.wait_for_selector(".landing")
    assert "dropped.txt" not in writable.library


def test_a_server_that_adds_nothing_shows_no_way_to(visit):
    page = visit().open()
    page.wait_for_selector(".library-name b")
    assert not page.get_by_role("link", name="Add").is_visible()


def test_an_upload_that_the_library_has_is_shown_as_the_same_document(visit, examples):
    page = visit().open()
    page.get_by_label("Choose a file").set_input_files(EXAMPLES / A)
    page.wait_for_selector(".hit")
    assert page.locator(".notice").first.text_content().startswith(f"This document is in the library: {A}.")
    assert page.locator(".same .eyebrow").text_content() == "The same document"
    assert page.locator(".same h2").text_content() == examples[A].title
    assert A not in page.locator(".hit").evaluate_all("hits => hits.map(hit => hit.dataset.id)")
