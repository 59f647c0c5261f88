"""`longmatch rank`."""

import csv
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from shutil import copy

import pytest

from longmatch.encoders.reader import Reader
from longmatch.library.library import Library
from longmatch.matching.hits import Hits
from tests.library.tiny import KeenReader

every_model = pytest.mark.parametrize("model", ["default", "tfidf"])


def ids(found: dict) -> list[str]:
    return [hit["id"] for hit in found["hits"]]


@every_model
def test_json_lists_the_hits_best_first_with_score_percentile_and_passages(longmatch, folder, model):
    hits = longmatch("rank", folder / "bank.md", folder, "--json", "-m", model).json["hits"]
    assert {hit["id"] for hit in hits[:2]} == {"queue.txt", "ledger.html"}
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    for hit in hits:
        assert {"id", "title", "score", "percentile", "passages"} <= hit.keys()
        assert 0 <= hit["percentile"] <= 100
    assert {"a", "b", "score", "contribution"} <= hits[0]["passages"][0].keys()


@every_model
def test_the_query_is_left_out_by_whatever_path_it_is_given(longmatch, folder, monkeypatch, model):
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder)
    for path in (folder / "bank.md", Path("bank.md"), folder / "sub" / ".." / "bank.md"):
        assert sorted(ids(longmatch("rank", path, folder, "--json", "-m", model).json)) == [
            "ledger.html",
            "pears.txt",
            "queue.txt",
            "snow.txt",
        ]


@every_model
def test_a_copy_of_another_name_is_kept_and_comes_first(longmatch, folder, model):
    copy(folder / "bank.md", folder / "again.md")
    hits = longmatch("rank", folder / "bank.md", folder, "--json", "-m", model).json["hits"]
    assert (hits[0]["id"], hits[0]["score"]) == ("again.md", pytest.approx(1, abs=1e-4))
    assert "bank.md" not in [hit["id"] for hit in hits]


@every_model
def test_k_is_how_many(longmatch, folder, model):
    assert len(longmatch("rank", folder / "bank.md", folder, "-k", 2, "--json", "-m", model).json["hits"]) == 2


def test_a_query_from_elsewhere_ranks_the_whole_folder(longmatch, folder, tmp_path):
    (tmp_path / "query.txt").write_text("Why depositors run to their bank when their savings are in doubt.")
    found = ids(longmatch("rank", tmp_path / "query.txt", folder, "--json").json)
    assert len(found) == 5 and set(found[:3]) == {"bank.md", "ledger.html", "queue.txt"}


def test_documents_in_folders_below_have_their_path_as_id(longmatch, folder):
    (folder / "sub").mkdir()
    copy(folder / "queue.txt", folder / "sub" / "queue.txt")
    assert "sub/queue.txt" in ids(longmatch("rank", folder / "bank.md", folder, "--json").json)


def test_the_ranking_is_printed_without_json(longmatch, folder):
    ran = longmatch("rank", folder / "bank.md", folder)
    assert ran.code == 0 and ran.out.index("queue.txt") < ran.out.index("snow.txt")


def test_the_same_question_has_the_same_answer(longmatch, folder):
    first, second = (longmatch("rank", folder / "bank.md", folder, "--json").out for _ in range(2))
    assert first == second


def test_a_condition_that_no_document_fulfils_is_named(longmatch, folder):
    ran = longmatch("rank", folder / "bank.md", folder, "--where", "language = 'de'")
    assert ran.out == f"No document of {folder} matches the condition language = 'de'\n"


def test_a_condition_on_metadata_that_no_document_has_says_so(longmatch, folder):
    said = f"No document of {folder} has a value for year, so none matches the condition words > 1 AND year > 2019"
    asked = ("rank", folder / "bank.md", folder, "--where", "words > 1 AND year > 2019")
    assert longmatch(*asked).out == f"{said}\n" and longmatch(*asked, "--json").json["remarks"] == [said]


def test_a_condition_on_metadata_that_some_document_has_is_just_not_met(longmatch, tmp_path):
    rows = [{"id": "a", "text": "The bank failed. They queued."}, {"id": "b", "text": "Snow fell.", "year": 2010}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    longmatch("index", tmp_path / "library", tmp_path / "rows.jsonl")
    ran = longmatch("rank", "a", tmp_path / "library", "--where", "year > 2019")
    assert ran.out.splitlines() == [
        f"No document of {tmp_path / 'library'} matches the condition year > 2019",
        "1 of 2 documents has no year and was left out.",
    ]


def test_a_condition_counts_the_documents_that_lack_the_value_it_names(longmatch, tmp_path):
    years = {"a": 2020, "b": 2021, "c": None, "d": None, "e": 2001}
    rows = [{"id": id, "text": f"The {id} bank failed. They queued.", "year": year} for id, year in years.items()]
    known = [{name: value for name, value in row.items() if value} for row in rows]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, known)))
    longmatch("index", tmp_path / "library", tmp_path / "rows.jsonl")
    said = "2 of 5 documents have no year and were left out."
    assert said in longmatch("rank", "a", tmp_path / "library", "--where", "year > 2019", "--json").json["remarks"]
    assert said in " ".join(longmatch("rank", "a", tmp_path / "library", "--where", "year > 2019").out.split())
    assert said in longmatch("show", tmp_path / "library", "--where", "year > 2019").out
    assert "left out" not in longmatch("show", tmp_path / "library", "--where", "year > 2019 OR year IS NULL").out


def test_words_that_no_document_holds_are_named(longmatch, folder):
    longmatch("rank", folder / "bank.md", folder)
    ran = longmatch("show", folder, "--find", "submarine")
    assert ran.out == f"No document of {folder} contains all of this: submarine\n"
    ran = longmatch("show", folder, "--find", "bank", "--where", "words < 0")
    assert ran.out == f"No document of {folder} that matches words < 0 contains all of this: bank\n"


def test_of_many_that_hold_the_words_the_best_are_listed_and_all_are_exported(longmatch, tmp_path):
    rows = [{"id": f"r{n:02}", "text": f"The bank of town {n} failed."} for n in range(60)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    library = tmp_path / "library"
    longmatch("index", library, tmp_path / "rows.jsonl")
    listed = longmatch("show", library, "--find", "bank").out
    assert listed.endswith("These are the best 50; more documents contain this.\n") and "\n50. " in listed
    assert longmatch("show", library, "--find", "bank", "--csv", "-").out.count("\n") == 61
    assert "r07" in longmatch("show", library, "--find", "bank", "--where", "id = 'r07'").out


@pytest.fixture
def likely(monkeypatch):
    """Sets the probabilities of the hits of every library, best first."""
    rank = Library.rank

    def set_to(*probabilities: float | None) -> None:
        def ranked(*asked, **more):
            hits = rank(*asked, **more)
            return Hits(replace(hit, probability=p) for hit, p in zip(hits, probabilities, strict=True))

        monkeypatch.setattr(Library, "rank", ranked)

    return set_to


def test_a_hit_says_how_likely_it_belongs(longmatch, folder, likely):
    likely(0.97, 0.8, 0.2, 0.001)
    out = longmatch("rank", folder / "bank.md", folder).out
    said = ["almost certainly (97%)", "probably (80%)", "probably not (20%)", "almost certainly not (below 1%)"]
    assert [out.index(words) for words in said] == sorted(out.index(words) for words in said)
    found = longmatch("rank", folder / "bank.md", folder, "--json").json
    assert [hit["probability"] for hit in found["hits"]] == [0.97, 0.8, 0.2, 0.001]
    assert [f"{hit['verdict']} (" for hit in found["hits"]] == [words.partition("(")[0] + "(" for words in said]
    assert found["remarks"] == [] and "Nothing here" not in out


def test_a_ranking_of_nothing_close_says_so(longmatch, folder, likely):
    likely(0.2, 0.1, 0.01, 0.01)
    sentence = "Nothing here shares more than such documents always do; the closest are listed."
    assert longmatch("rank", folder / "bank.md", folder).out.startswith(f"{sentence}\n")
    assert longmatch("rank", folder / "bank.md", folder, "--json").json["remarks"] == [sentence]
    ran = longmatch("rank", folder / "bank.md", folder, "--each")
    assert [json.loads(line)["remarks"] for line in ran.out.splitlines()] == [[sentence]]


def test_hits_without_probabilities_say_why_once_and_show_no_number(longmatch, folder, likely):
    likely(None, None, None, None)
    ran = longmatch("rank", folder / "bank.md", folder)
    assert not any(words in ran.out for words in ("certainly", "probably", "Nothing here", "%"))
    found = longmatch("rank", folder / "bank.md", folder, "--json").json
    (why,) = found["remarks"]
    assert why.startswith("Whether these belong with it cannot be said") and " ".join(ran.out.split()).count(why) == 1
    assert {hit["verdict"] for hit in found["hits"]} == {None}


@every_model
def test_a_copy_of_the_query_is_labelled(longmatch, folder, tmp_path, model):
    (folder / "again.md").write_text((folder / "bank.md").read_text())
    asked = ("rank", "bank.md", folder, "-m", model)
    lines = longmatch(*asked, "--csv", tmp_path / "hits.csv").out.splitlines()
    assert [line.split()[0].rstrip(",") for line in lines if "copy of the query" in line] == ["again.md"]
    hits = longmatch(*asked, "--json").json["hits"]
    assert [hit["relation"] for hit in hits] == ["copy", *[None] * (len(hits) - 1)] and hits[0]["id"] == "again.md"
    row, *_ = csv.DictReader(StringIO((tmp_path / "hits.csv").read_text(encoding="utf-8")))
    assert (row["id"], row["relation"]) == ("again.md", "copy")


def test_a_copy_is_labelled_for_each_of_many(longmatch, folder):
    (folder / "again.md").write_text((folder / "bank.md").read_text())
    answers = map(json.loads, longmatch("rank", folder / "bank.md", folder, "--each").out.splitlines())
    assert [answer["hits"][0]["relation"] for answer in answers] == ["copy"]


@every_model
def test_a_text_takes_the_place_of_a_query_document(longmatch, folder, model):
    found = longmatch("rank", "--text", "Depositors run for their savings.", folder, "--json", "-m", model).json
    assert len(found["hits"]) == 5 and set(ids(found)[:3]) == {"bank.md", "ledger.html", "queue.txt"}
    assert found["query"]["words"] == 5


def test_a_text_beside_a_query_or_a_query_alone_is_explained(longmatch, folder):
    assert "Name the library alone" in longmatch("rank", "--text", "Snow.", folder / "bank.md", folder).complaint
    assert "Name a library or a folder" in longmatch("rank", folder / "bank.md").complaint


def test_csv_has_a_line_per_hit(longmatch, folder, tmp_path):
    table = longmatch("rank", folder / "bank.md", folder, "--csv", "-", "-m", "tfidf").out
    first, *_ = rows = list(csv.DictReader(StringIO(table)))
    assert len(rows) == 4 and first["id"] == "queue.txt" and first["source"] == str(folder / "queue.txt")
    assert "epositors" in first["passage"] and first["verdict"] == ""
    ran = longmatch("rank", folder / "bank.md", folder, "--csv", tmp_path / "new" / "hits.csv", "-m", "tfidf")
    assert (tmp_path / "new" / "hits.csv").read_text(encoding="utf-8") == table and "queue.txt" in ran.out
    refused = longmatch("rank", folder / "bank.md", folder, "--csv", folder / "snow.txt" / "hits.csv", "-m", "tfidf")
    assert "cannot be written" in refused.complaint


@every_model
def test_the_query_may_be_the_id_of_a_document_of_the_folder(longmatch, folder, model):
    found = longmatch("rank", "bank.md", folder, "--json", "-m", model).json
    assert found["query"]["id"] == "bank.md" and "bank.md" not in ids(found)


def test_a_model_that_cannot_search_a_library_says_so_whatever_the_query(longmatch, folder, tmp_path):
    longmatch("index", tmp_path / "library", folder)
    complaint = longmatch("rank", "bank.md", tmp_path / "library", "--model", tmp_path / "model").complaint
    assert "is a library, which" in complaint and "--rerank" in complaint


@every_model
@pytest.mark.parametrize("times", [1, 100])
def test_a_text_in_place_of_a_file_name_hears_of_the_option_for_texts(longmatch, folder, model, times):
    complaint = longmatch("rank", "depositors in the rain " * times, folder, "-m", model).complaint
    assert "is neither a file nor the id" in complaint and "--text" in complaint and len(complaint) < 500


def test_sections_are_ranked_for_a_question(longmatch, folder):
    found = longmatch("rank", "--by", "section", "--text", "Who closed the doors of the bank?", folder, "--json").json
    best = found["sections"][0]
    assert (best["id"], best["section"]) == ("bank.md", "After") and "regulator" in best["passage"]["text"]
    assert found["stands_out"] and found["remarks"] == []
    out = longmatch("rank", "--by", "section", "--text", "Who closed the doors of the bank?", folder).out
    assert out.splitlines()[0].endswith("After") and "bank.md" in out
    table = longmatch("rank", "--by", "section", "--text", "Who closed the doors?", folder, "--csv", "-", "-k", 2).out
    rows = list(csv.DictReader(StringIO(table)))
    assert len(rows) == 2 and rows[0]["id"] == "bank.md"


def test_a_question_that_nothing_answers_is_said_to_have_no_answer(longmatch, folder):
    question = "How do electric guitars amplify sound?"
    for more in ((), ("--by", "section")):
        assert longmatch("rank", "--text", question, folder, *more).out.startswith("Nothing here stands out")
        assert "stands out" in longmatch("rank", "--text", question, folder, *more, "--json").json["remarks"][0]


def test_sections_are_ranked_by_the_default_model_alone(longmatch, folder):
    said = longmatch("rank", "--by", "section", "--text", "bank", folder, "--model", "bm25").complaint
    assert "--by section" in said and "--model" in said


def test_found_documents_show_the_sentences_that_have_the_words(longmatch, folder):
    longmatch("rank", folder / "bank.md", folder)
    out = longmatch("show", folder, "--find", '"failed bank" queued').out
    assert "queue.txt" in out and "bank.md" not in out and "queued in the rain" in out
    found = longmatch("show", folder, "--find", "depositors queued", "--json").json["documents"]
    assert {row["id"] for row in found} == {"bank.md", "queue.txt"}
    assert all("queued" in row["snippets"][0]["words"] for row in found)


def test_a_file_from_elsewhere_that_the_library_holds_is_named_and_is_no_hit(longmatch, folder, tmp_path):
    (tmp_path / "elsewhere.md").write_text((folder / "bank.md").read_text("utf-8").replace("\n", "\r\n"), "utf-8")
    found = longmatch("rank", tmp_path / "elsewhere.md", folder, "--json").json
    assert [(same["id"], same["relation"]) for same in found["same"]] == [("bank.md", "copy")]
    assert "bank.md" not in ids(found) and ids(found)[0] in ("queue.txt", "ledger.html")
    said = longmatch("rank", tmp_path / "elsewhere.md", folder).out
    assert "This document is in the library: bank.md. Its neighbours are shown." in " ".join(said.split())


@pytest.mark.parametrize("name", ["bank.md", "snow.txt"])
def test_a_table_is_not_written_over_a_document(longmatch, folder, name):
    before = (folder / name).read_text()
    said = longmatch("rank", folder / "bank.md", folder, "--csv", folder / name).complaint
    assert ("is read here" if name == "bank.md" else "does not end in .csv") in said
    assert (folder / name).read_text() == before


def test_a_question_is_read_deeply(longmatch, folder, monkeypatch):
    monkeypatch.setattr(Reader, "load", lambda: KeenReader("pear"))
    question = ("--text", "What do people do when they fear for their savings?", folder, "--deep")
    found = longmatch("rank", *question, "--json").json
    assert found["reader"] == "keen-reader" and ids(found)[0] == "pears.txt"
    sections = longmatch("rank", *question, "--by", "section", "--json").json
    assert sections["reader"] == "keen-reader" and sections["sections"][0]["id"] == "pears.txt"
    assert "The best sections were read by keen-reader." in longmatch("rank", *question, "--by", "section").out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--rerank", "tfidf"), "--deep reads after the default model. Leave out --rerank, --ray and --model."),
        (("-m", "tfidf"), "--deep reads after the default model. Leave out --rerank, --ray and --model."),
        ((), "Deep reading is for questions of at most 40 words. Ask a shorter one, or rank without it."),
    ],
)
def test_deep_reading_of_what_is_no_question_is_refused(longmatch, folder, monkeypatch, options, sentence):
    monkeypatch.setattr(Reader, "load", lambda: KeenReader("pear"))
    refused = longmatch("rank", folder / "bank.md", folder, "--deep", *options)
    assert refused.code == 2 and sentence in refused.err
