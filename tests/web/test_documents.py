"""Listing, searching and reading the documents of a library."""

from tests.web.conftest import API, HOSTILE


def listed(client, **asked):
    answer = client.get(f"{API}/documents", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_list_names_every_document_by_title(client, shelf):
    found = listed(client)
    titles = [d["title"] for d in found["documents"]]
    assert found["total"] == len(shelf) == len(titles)
    assert titles == sorted(titles, key=str.casefold)


def test_the_list_comes_in_pages(client):
    first, second = (listed(client, sort="id", offset=start, limit=4) for start in (0, 4))
    ids = [d["id"] for page in (first, second) for d in page["documents"]]
    assert first["total"] == 9 and len(set(ids)) == 8 and ids == sorted(ids)


def test_the_list_can_be_sorted_by_length_longest_first(client):
    words = [d["words"] for d in listed(client, sort="words", order="descending")["documents"]]
    assert words == sorted(words, reverse=True) and words[0] > words[-1]


def test_a_search_finds_the_beginning_of_a_title_first_and_then_words_of_the_text(client):
    found = [d["id"] for d in listed(client, search="report 3")["documents"]]
    assert found[0] == "report-3.md"
    assert "hostile" in [d["id"] for d in listed(client, search="lifted")["documents"]]


def test_a_search_for_what_nobody_wrote_finds_nothing(client):
    assert listed(client, search="xylophonist") == {"total": 0, "documents": []}


def test_a_document_is_read_with_its_sections_and_spans(client, shelf):
    found = client.get(f"{API}/document", params={"id": "report-2.md"}).json()
    text = shelf.show("report-2.md").readable
    assert [s["heading"] for s in found["sections"]] == ["Report 2", "More"]
    assert all(p["text"] == text[p["start"] : p["end"]] for s in found["sections"] for p in s["paragraphs"])


def test_an_id_may_hold_slashes_and_signs(client):
    found = client.get(f"{API}/document", params={"id": "rivers/lower/a & b?.txt"})
    assert found.status_code == 200 and found.json()["words"] > 50


def test_a_hostile_document_is_handed_over_as_it_is_in_json_that_no_browser_runs(client):
    answer = client.get(f"{API}/document", params={"id": "hostile"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    found = answer.json()
    assert found["title"] == HOSTILE["title"]
    assert [s["heading"] for s in found["sections"]] == [s["heading"] for s in HOSTILE["sections"]]
    assert found["sections"][0]["paragraphs"][0]["text"] == HOSTILE["sections"][0]["text"]


def test_an_unknown_document_is_a_sentence(client):
    answer = client.get(f"{API}/document", params={"id": "nowhere.md"})
    assert answer.status_code == 404
    assert answer.json() == {"detail": "There is no document nowhere.md. Look at the list of documents."}


def test_no_file_of_the_server_can_be_read_by_its_path(client, shelf):
    place = shelf.show("report-1.md").source
    for id in (place, "../secret-folder/report-1.md", "/etc/passwd", f"{place}#x", "report-1.md\0"):
        assert client.get(f"{API}/document", params={"id": id}).status_code == 404
        assert client.get(f"{API}/rank", params={"document": id}).status_code == 404
        assert client.get(f"{API}/compare", params={"a": id, "b": "report-1.md"}).status_code == 404


def test_no_answer_holds_a_path_of_the_server(client, shelf):
    asked = [
        "library",
        "health",
        "documents",
        "document?id=report-1.md",
        "document?id=nowhere",
        "rank?document=report-1.md",
        "rank?document=report-1.md&where=nothing%20is%20(",
        "compare?a=report-1.md&b=report-2.md",
        "compare/export?a=report-1.md&b=report-2.md",
        "compare/export?a=report-1.md&b=report-2.md&format=json",
        "map",
    ]
    folder = shelf.address.rsplit("/", 1)[0]
    for path in asked:
        answer = client.get(f"{API}/{path}")
        assert folder not in answer.text and "secret-folder" not in answer.text, path


def test_the_library_says_what_it_holds_and_what_may_be_uploaded(client, shelf):
    found = client.get(f"{API}/library").json()
    assert (found["name"], found["documents"], found["schema"]) == ("shelf", 9, 1)
    assert found["words"] == shelf.summary()["words"]
    assert found["vectors"] == "float16"
    assert "openvino" in found["computes"]
    assert ".pdf" in found["formats"] and found["uploads"]["bytes"] == 32_000_000


def test_health_says_how_many_documents_there_are(client):
    found = client.get(f"{API}/health").json()
    assert (found["status"], found["documents"]) == ("ok", 9)


def test_what_another_process_adds_is_seen_at_once(tmp_path, tiny_web):
    from longmatch.library.library import Library
    from tests.web.conftest import calling

    (tmp_path / "one.md").write_text("# One\n\nThe river rose over the bank.\n", encoding="utf-8")
    library = Library(tmp_path / "growing", tiny_web)
    library.add(tmp_path / "one.md")
    with calling(library) as client:
        assert listed(client)["total"] == 1
        (tmp_path / "two.md").write_text("# Two\n\nThe crane stood in the harbour.\n", encoding="utf-8")
        Library(tmp_path / "growing", tiny_web).add(tmp_path / "two.md")
        assert listed(client)["total"] == 2
        hits = client.get(f"{API}/rank", params={"document": "one.md"}).json()["hits"]
        assert [hit["id"] for hit in hits] == ["two.md"]
