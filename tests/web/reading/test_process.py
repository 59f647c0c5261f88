"""A file of many documents whose reader crashes: what was read is kept, and the member that caused it is named."""

import pytest

from longmatch.web.limits import Limits
from longmatch.web.problems import Problem
from longmatch.web.reading import process
from longmatch.web.reading.process import read_collection_apart
from tests.documents.packed import zipped

ALL = zipped({f"{n}.txt": f"Text number {n}, with some words." for n in range(4)})


def test_reading_goes_on_after_the_member_that_made_the_reader_crash(monkeypatch):
    run, skipped = process.run_confined, []

    def crash_at_the_second(task, given, *others):
        skipped.append(given["skip"])
        said, problem = run(task, given, *others)
        if len(skipped) > 1:
            return said, problem
        lines = said.splitlines(keepends=True)
        return b"".join(lines[:3]), Problem(422, "all.zip is damaged: its reader crashed. Leave it out.")

    monkeypatch.setattr(process, "run_confined", crash_at_the_second)
    read = read_collection_apart(ALL, "all.zip", Limits())
    assert skipped == [0, 2]
    assert [document.id for document in read.documents] == ["all.zip#0.txt", "all.zip#2.txt", "all.zip#3.txt"]
    assert read.problems == ["all.zip#1.txt is damaged: its reader crashed. Leave it out."]


def test_a_bomb_is_refused():
    with pytest.raises(Problem, match=r"bomb\.zip#a\.txt unpacks to a huge size"):
        read_collection_apart(zipped({"a.txt": bytes(101_000_000)}), "bomb.zip", Limits())


def test_a_document_that_is_too_long_is_named_and_the_others_are_read():
    content = zipped({"long.txt": "word " * 3000, "short.txt": "A few words."})
    read = read_collection_apart(content, "all.zip", Limits(upload_words=2000))
    assert [document.id for document in read.documents] == ["all.zip#short.txt"]
    assert read.sentences[0].startswith("all.zip#long.txt has 3,000 words, and an upload may have 2,000.")
