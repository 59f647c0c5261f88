"""`longmatch compare`."""

import pytest


@pytest.fixture
def found(longmatch, folder):
    return longmatch("compare", folder / "bank.md", folder / "queue.txt", "--json").json


def test_json_tells_score_coverage_sections_and_passages(found):
    assert 0 < found["score"] < 1
    assert found["coverage"] == {"a": 1.0, "b": 1.0}
    sections = found["sections"]
    assert sections["rows"] == ["The run", "After"] and len(sections["columns"]) == 1
    assert len(sections["scores"]) == 2 and all(len(row) == 1 for row in sections["scores"])
    for passage in found["passages"]:
        assert {"a", "b", "score", "contribution"} <= passage.keys()
        assert {"text", "start", "end", "section", "page"} == passage["a"].keys() == passage["b"].keys()
    assert sum(p["contribution"] for p in found["passages"]) == pytest.approx(1)


def test_passages_are_the_characters_of_the_files(found, folder):
    a, b = ((folder / name).read_text() for name in ("bank.md", "queue.txt"))
    assert found["passages"]
    for passage in found["passages"]:
        assert a[passage["a"]["start"] : passage["a"]["end"]] == passage["a"]["text"]
        assert b[passage["b"]["start"] : passage["b"]["end"]] == passage["b"]["text"]


def test_a_document_with_itself_scores_1(longmatch, folder):
    found = longmatch("compare", folder / "bank.md", folder / "bank.md", "--json").json["score"]
    assert found == pytest.approx(1, abs=2e-6)


def test_the_page_is_written_and_named(longmatch, folder, tmp_path):
    ran = longmatch("compare", folder / "bank.md", folder / "queue.txt", "--html", tmp_path / "why.html")
    assert ran.code == 0 and str(tmp_path / "why.html") in ran.out.replace("\n", "")
    assert "Depositors queued" in (tmp_path / "why.html").read_text()


def test_json_and_a_page_go_together(longmatch, folder, tmp_path):
    page = tmp_path / "why.html"
    assert longmatch("compare", folder / "bank.md", folder / "queue.txt", "--json", "--html", page).json["score"] > 0
    assert page.exists()


def test_one_document_is_compared_with_itself_section_by_section(longmatch, folder):
    found = longmatch("compare", folder / "bank.md", "--json").json
    assert found["sections"]["rows"] == found["sections"]["columns"] == ["The run", "After"]


def test_another_model_compares_too(longmatch, folder):
    found = longmatch("compare", folder / "bank.md", folder / "snow.txt", "--json", "--model", "tfidf").json
    assert found["model"] == "tfidf" and found["score"] < 0.2


def test_a_page_that_cannot_be_written_is_said_in_one_sentence(longmatch, folder):
    place = folder / "snow.txt" / "why.html"
    assert "cannot be written" in longmatch("compare", folder / "bank.md", "--html", place, "-m", "default").complaint


def test_the_folder_of_a_page_is_made(longmatch, folder, tmp_path):
    pages = [tmp_path / "new" / name for name in ("why.html", "changes.html")]
    longmatch("compare", folder / "bank.md", folder / "queue.txt", "--html", pages[0], "--redline", pages[1])
    assert all(page.read_text(encoding="utf-8").startswith("<!doctype html>") for page in pages)


def test_an_unknown_model_is_said_in_one_sentence(longmatch, folder):
    assert "tfdif" in longmatch("compare", folder / "bank.md", folder / "snow.txt", "-m", "tfdif").complaint


def test_a_model_that_compares_only_two_says_so(longmatch, folder):
    assert "Name a second document" in longmatch("compare", folder / "bank.md", "-m", "tfidf").complaint


def test_a_warning_is_one_sentence_without_the_place_in_the_code(longmatch, folder):
    long = folder / "long.txt"
    long.write_text("Depositors of the failed bank queued in the rain. " * 100)
    ran = longmatch("compare", long, folder / "bank.md", "-m", "first")
    assert ran.code == 0
    assert ran.err == "longmatch: The model first reads only the opening of a document.\n"


def test_a_redline_of_two_versions_is_written_and_named(longmatch, folder, tmp_path):
    version = folder / "bank-2.md"
    version.write_text((folder / "bank.md").read_text().replace("on Monday", "on Tuesday morning"))
    ran = longmatch("compare", folder / "bank.md", version, "--redline", tmp_path / "changes.html")
    assert "versions of one text" in ran.out.replace("\n", " ") and "section by section" in ran.out
    page = (tmp_path / "changes.html").read_text()
    assert "<del>Monday.</del> <ins>Tuesday morning.</ins>" in page and "changes.html" in ran.out.replace("\n", "")


def test_json_tells_the_relation_and_the_shared_text(longmatch, folder):
    found = longmatch("compare", folder / "bank.md", folder / "bank.md", "--json").json
    assert found["relation"] == "copy" and found["reuse"]["share_a"] == 1


def test_a_redline_needs_two_documents(longmatch, folder, tmp_path):
    assert "Name a second file" in longmatch("compare", folder / "bank.md", "--redline", tmp_path / "x.html").complaint


def test_inside_a_folder_it_says_what_ranking_says(longmatch, folder):
    ranked = longmatch("rank", folder / "bank.md", folder, "--json").json["hits"]
    hit = next(hit for hit in ranked if hit["id"] == "queue.txt")
    inside = longmatch("compare", "bank.md", "queue.txt", "--in", folder, "--json").json
    assert inside["score"] == pytest.approx(hit["score"], abs=1e-4)
    assert inside["probability"] == pytest.approx(hit["probability"], abs=1e-4)


def test_inside_a_library_no_other_model_is_taken(longmatch, folder):
    done = longmatch("compare", "bank.md", "queue.txt", "--in", folder, "--model", "tfidf")
    assert done.complaint == "--in compares with the library's own model. Leave out --model and --backbone."


@pytest.mark.parametrize("option", ["--html", "--redline"])
@pytest.mark.parametrize("name", ["bank.md", "queue.txt", "ledger.html", "snow.txt"])
def test_a_document_is_never_written_over(longmatch, folder, option, name):
    before, pair = (folder / name).read_text(), ("bank.md", "ledger.html" if name == "ledger.html" else "queue.txt")
    said = longmatch("compare", *(folder / one for one in pair), option, folder / name).complaint
    assert ("is read here" if name in pair else "does not end in .html") in said
    assert (folder / name).read_text() == before


def test_a_page_from_before_is_replaced_and_two_pages_need_two_files(longmatch, folder, tmp_path):
    page = tmp_path / "why.html"
    page.write_text("old")
    pair = folder / "bank.md", folder / "queue.txt"
    assert "Name two files" in longmatch("compare", *pair, "--html", page, "--redline", page).complaint
    assert longmatch("compare", *pair, "--html", page).code == 0 and page.read_text() != "old"
