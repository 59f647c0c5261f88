"""Rankings, at once and as jobs."""

import threading

import pytest

from longmatch.documents.read import read_text_string
from longmatch.encoders.reader import Reader
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from longmatch.web.limits import Limits
from tests.library.tiny import KeenReader, made_up_text
from tests.web.conftest import API, LONG, calling, set_probabilities, upload, waited


def ranked(client, **asked):
    answer = client.get(f"{API}/rank", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_ranking_is_that_of_the_library(client, shelf):
    found = ranked(client, document="report-1.md", k=5)
    hits = shelf.rank("report-1.md", k=5)
    assert [(h["id"], h["score"]) for h in found["hits"]] == [(h.id, round(h.score, 6)) for h in hits]
    assert found["query"]["id"] == "report-1.md" and found["documents"] == 9


def test_a_hit_says_what_it_is_and_why(client, shelf):
    hit = ranked(client, document="report-1.md", k=1)["hits"][0]
    document = shelf.show(hit["id"])
    assert (hit["language"], hit["words"]) == (document.language, document.words)
    assert all(pair["b"]["text"] == document.readable[pair["b"]["start"] : pair["b"]["end"]] for pair in hit["why"])


def test_a_hit_says_how_likely_it_belongs_at_once_and_as_a_job(client, shelf, monkeypatch):
    set_probabilities(monkeypatch, shelf, 0.97, 0.12345678, None)
    found = ranked(client, document="report-1.md", k=3)
    said = [(hit["probability"], hit["verdict"]) for hit in found["hits"]]
    assert said == [(0.97, "almost certainly"), (0.123457, "probably not"), (None, None)]
    assert found["remarks"][0].startswith("Whether some of these belong with it cannot be said")
    job = client.post(f"{API}/rank", json={"document": "report-1.md", "k": 3}).json()["job"]
    assert waited(client, job)["result"] == found


@pytest.mark.parametrize(("likely", "said"), [((0.29, 0.01), True), ((0.3, 0.01), False)])
def test_a_ranking_of_nothing_close_says_so(client, shelf, monkeypatch, likely, said):
    set_probabilities(monkeypatch, shelf, *likely)
    sentence = "Nothing here shares more than such documents always do; the closest are listed."
    assert ranked(client, document="report-1.md", k=2)["remarks"] == ([sentence] if said else [])


def test_a_copy_is_labelled(tmp_path, tiny_web):
    for name in ("first.md", "second.md"):
        (tmp_path / name).write_text(made_up_text(3))
    (tmp_path / "other.md").write_text(made_up_text(4))
    library = Library(tmp_path / "library", tiny_web)
    library.add(tmp_path)
    with calling(library) as client:
        hits = ranked(client, document="first.md")["hits"]
    assert [(hit["id"], hit["relation"]) for hit in hits] == [("second.md", "copy"), ("other.md", None)]


def test_a_question_is_answered_by_sections_and_a_document_is_not(client, shelf):
    question = client.post(f"{API}/uploads", json={"text": "Who unloaded the ship?"}).json()
    found = waited(client, client.post(f"{API}/rank", json={"document": question["upload"], "k": 2}).json()["job"])
    sections = found["result"]["sections"]
    asked = shelf.rank_sections(read_text_string("Who unloaded the ship?"), 2)
    assert [(hit["id"], hit["number"]) for hit in sections] == [(hit.document.id, hit.number) for hit in asked]
    assert all(hit["passage"]["text"] in hit["paragraph"] and hit["parents"] == [] for hit in sections)
    assert ranked(client, document="report-1.md")["sections"] == []


def test_a_question_is_read_deeply_where_a_reader_is_installed(client, monkeypatch):
    question = client.post(f"{API}/uploads", json={"text": "Who unloaded the ship?"}).json()["upload"]

    def answer(**asked):
        job = client.post(f"{API}/rank", json={"document": question, "k": 2, **asked}).json()["job"]
        return waited(client, job)

    monkeypatch.setattr(Reader, "is_here", lambda: False)
    assert not answer()["result"]["deeper"]
    refused = answer(deep=True)
    assert refused["state"] == "failed" and "This server has no question reader. Install one" in refused["detail"]
    monkeypatch.setattr(Reader, "is_here", lambda: True)
    monkeypatch.setattr(Reader, "load", lambda: KeenReader("ship"))
    found = answer()["result"]
    assert found["deeper"] and found["reader"] is None
    read = answer(deep=True)["result"]
    assert not read["deeper"] and read["reader"] == "keen-reader"
    assert "The best sections were read by keen-reader." in read["remarks"]
    assert not ranked(client, document="report-1.md")["deeper"]


def test_the_document_itself_is_no_hit(client):
    assert "report-1.md" not in [hit["id"] for hit in ranked(client, document="report-1.md", k=50)["hits"]]


def test_a_condition_leaves_documents_out(client):
    found = ranked(client, document="report-1.md", k=50, where="id LIKE 'report-%' AND words > 10")
    assert {hit["id"] for hit in found["hits"]} == {f"report-{n}.md" for n in (0, 2, 3, 4, 5, 6)}


def test_the_score_of_sdr_can_be_asked_for(client, shelf):
    found = ranked(client, document="report-1.md", by="sdr", k=3)
    assert [h["id"] for h in found["hits"]] == [h.id for h in shelf.rank("report-1.md", 3, by="sdr")]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"document": "report-1.md", "k": 0}, "k is invalid: Input should be greater than or equal to 1."),
        ({"document": "report-1.md", "by": "magic"}, "by is invalid: Input should be 'default' or 'sdr'."),
        ({}, "document is invalid: Field required."),
    ],
)
def test_a_wrong_value_is_told_in_a_sentence(client, asked, sentence):
    answer = client.get(f"{API}/rank", params=asked)
    assert (answer.status_code, answer.json()) == (422, {"detail": sentence})


def test_a_condition_that_is_none_is_told_in_a_sentence(client):
    answer = client.get(f"{API}/rank", params={"document": "report-1.md", "where": "words >"})
    assert answer.status_code == 422 and "is not understood" in answer.json()["detail"]


def test_a_condition_on_what_no_document_has_is_told_in_a_remark(client):
    found = ranked(client, document="report-1.md", where="yeer > 2021")
    said = "No document has a value for yeer, so none matches the condition yeer > 2021"
    assert found["hits"] == [] and said in found["remarks"]


def test_a_job_gives_the_same_ranking(client):
    job = client.post(f"{API}/rank", json={"document": "report-1.md", "k": 4})
    assert job.status_code == 202
    ended = waited(client, job.json()["job"])
    assert ended["state"] == "done" and ended["detail"] is None
    assert ended["result"] == ranked(client, document="report-1.md", k=4)


def test_a_job_for_an_upload_counts_what_it_encodes(client):
    id = upload(client, LONG).json()["upload"]
    app = client.app
    seen = []
    state = app.state.longmatch
    plain = state.worker.breathe

    def watched():
        seen.extend((job.step, job.done, job.total) for job in state.jobs.known.values())
        plain()

    state.worker.breathe = watched
    ended = waited(client, client.post(f"{API}/rank", json={"document": id}).json()["job"])
    counted = [(done, total) for step, done, total in seen if step == "encoding the document" and total]
    assert ended["state"] == "done"
    assert len(counted) > 3 and counted == sorted(counted) and counted[-1][0] == counted[-1][1]


@pytest.mark.parametrize("combine", [None, False, True])
def test_a_job_that_reads_again_has_the_scores_of_that_model_or_where_both_order_the_librarys(client, shelf, combine):
    asked = {"document": "report-1.md", "k": 3, "rerank": "tfidf", "depth": 6, "combine": combine}
    ended = waited(client, client.post(f"{API}/rank", json=asked).json()["job"])
    matcher = client.app.state.longmatch.models.get("tfidf")
    hits = shelf.rank("report-1.md", 3, rerank=matcher, depth=6, combine=combine)
    assert ended["result"]["by"] == ("tfidf" if combine is False else "default")
    assert any(remark.startswith("Ordered by default and tfidf") for remark in ended["result"]["remarks"]) == (
        combine is not False
    )
    assert [(h["id"], h["score"]) for h in ended["result"]["hits"]] == [(h.id, round(h.score, 6)) for h in hits]


def test_a_job_with_an_unknown_document_is_refused_at_once(client):
    assert client.post(f"{API}/rank", json={"document": "nowhere"}).status_code == 404


CALLS = "words > 0 /* ' */ AND repeat(title, 1000000) <> title /* ' */"


@pytest.mark.parametrize("where", [CALLS, CALLS.replace("/*", "--").replace("*/", "\n"), "title = $1", "title ~ 'x'"])
def test_a_condition_that_calls_or_casts_is_refused_at_once_however_it_is_sent(client, where):
    asked = {"document": "report-1.md", "where": where}
    for answer in (client.get(f"{API}/rank", params=asked), client.post(f"{API}/rank", json=asked)):
        assert answer.status_code == 422 and "is not understood at character" in answer.json()["detail"]


def test_a_job_that_fails_names_the_library_and_not_where_it_lies(client, shelf):
    def work(job):
        raise LibraryError(f"{shelf.address} is damaged or cannot be read.")

    job = client.app.state.longmatch.jobs.start(work)
    assert waited(client, job.id)["detail"] == "shelf is damaged or cannot be read."


def test_a_job_that_breaks_says_so_in_a_sentence_and_others_go_on(client):
    job = client.app.state.longmatch.jobs.start(lambda job: 1 / 0)
    assert waited(client, job.id)["detail"].startswith("longmatch could not answer")
    assert ranked(client, document="report-1.md")["hits"]


def test_a_job_that_is_cancelled_while_it_waits_is_never_done(client):
    free = threading.Event()
    client.app.state.longmatch.worker.begin(free.wait, 20)
    job = client.post(f"{API}/rank", json={"document": "report-1.md"}).json()["job"]
    assert client.get(f"{API}/jobs/{job}").json()["state"] == "waiting"
    assert client.delete(f"{API}/jobs/{job}").status_code == 204
    free.set()
    ranked(client, document="report-1.md")
    ended = client.get(f"{API}/jobs/{job}").json()
    assert (ended["state"], ended["result"]) == ("cancelled", None)


def test_a_job_that_is_cancelled_while_it_runs_ends_at_its_next_step(client):
    started, ended = threading.Event(), threading.Event()

    def work(job):
        try:
            while True:
                started.set()
                job.advance()
        finally:
            ended.set()

    job = client.app.state.longmatch.jobs.start(work)
    assert started.wait(20)
    assert client.delete(f"{API}/jobs/{job.id}").status_code == 204
    assert ended.wait(20) and waited(client, job.id)["state"] == "cancelled"


def test_an_unknown_job_is_a_sentence(client):
    assert client.get(f"{API}/jobs/j-0123456789abcdef").status_code == 404
    assert client.delete(f"{API}/jobs/j-0123456789abcdef").json()["detail"].endswith("Start it again.")


def test_only_so_many_jobs_are_kept_and_the_oldest_ended_one_goes_first(shelf):
    with calling(shelf, limits=Limits(jobs=2)) as client:
        jobs = []
        for _ in range(3):
            jobs.append(client.post(f"{API}/rank", json={"document": "report-1.md"}).json()["job"])
            waited(client, jobs[-1])
        assert [client.get(f"{API}/jobs/{job}").status_code for job in jobs] == [404, 200, 200]


def test_an_upload_that_the_library_has_is_named_and_is_no_hit(client, shelf):
    words = shelf.show("report-2.md").text.replace("\n", "  \n")
    id = upload(client, words, "mine.md").json()["upload"]
    found = client.get(f"{API}/rank", params={"document": id, "k": 3}).json()
    assert [(same["id"], same["relation"]) for same in found["same"]] == [("report-2.md", "copy")]
    assert found["remarks"][0] == "This document is in the library: report-2.md. Its neighbours are shown."
    stored = client.get(f"{API}/rank", params={"document": "report-2.md", "k": 3}).json()
    assert [hit["id"] for hit in found["hits"]] == [hit["id"] for hit in stored["hits"]]
    assert stored["same"] == []
