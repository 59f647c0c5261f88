"""The common form on disk: reading, checking and writing it."""

import gzip
import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.datasets import CollectionWriter, DataFolder, Judgement, Pair, Part, RawDocument
from longmatch.lab.datasets.records import iterate_records

LINES = [
    {"id": "a", "title": "A", "sections": [{"heading": "One", "text": "First.\n\nSecond."}]},
    {"id": "b", "title": "", "sections": [{"heading": "", "text": "Third."}]},
    {"id": "c", "title": "C", "text": "Plain text."},
]
DOCUMENTS = "".join(json.dumps(line) + "\n" for line in LINES)


def folder(path: Path, **tables: str) -> DataFolder:
    (path / "documents.jsonl").write_text(DOCUMENTS, encoding="utf-8")
    for name, content in tables.items():
        (path / f"{name}.tsv").write_text(content, encoding="utf-8")
    return DataFolder(path)


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "jsonl.xz"])
def test_documents_are_read_plain_and_packed(tmp_path, suffix):
    pack = {"jsonl": bytes, "jsonl.gz": gzip.compress, "jsonl.xz": lzma.compress}[suffix]
    (tmp_path / f"documents.{suffix}").write_bytes(pack(DOCUMENTS.encode()))
    opened = DataFolder(tmp_path)
    assert opened.ids == ("a", "b", "c")
    documents = list(opened.documents())
    assert [d.id for d in documents] == ["a", "b", "c"]
    assert [p.of(documents[0].text) for p in documents[0].paragraphs] == ["First.", "Second."]


def test_labels_are_given_by_split(tmp_path):
    opened = folder(
        tmp_path,
        pairs="split\tsource\ttarget\tlabel\ntest\ta\tb\t1\ntrain\ta\tc\t0\n",
        qrels="split\tquery\tdocument\tgrade\nvalidation\ta\tb\t3\nvalidation\ta\tc\t0\n",
    )
    assert opened.splits == ("train", "validation", "test")
    assert opened.pairs("test") == [Pair("test", "a", "b", 1)]
    assert len(opened.pairs()) == 2
    assert opened.qrels("validation") == {"a": {"b": 3, "c": 0}}
    assert opened.judgements("test") == []
    assert opened.judgements("validation")[0] == Judgement("validation", "a", "b", 3)


def test_a_pool_is_the_querys_own_then_the_candidates_then_all(tmp_path):
    assert folder(tmp_path).pool("a") == ("b", "c")
    assert folder(tmp_path, candidates="document\nc\na\n").pool("a") == ("c",)
    opened = folder(tmp_path, pools="query\tdocument\na\tb\n")
    assert (opened.pool("a"), opened.pool("b")) == (("b",), ("c", "a"))


def test_labels_for_unknown_documents_are_counted_and_the_first_named(tmp_path):
    opened = folder(tmp_path, pairs="split\tsource\ttarget\tlabel\ntest\ta\tx\t1\ntest\ty\tb\t0\ntest\tx\tb\t0\n")
    with pytest.raises(ReadError, match=r"pairs\.tsv names 2 unknown documents, the first of them 'x'\."):
        opened.validate()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query\tdocument\n", "does not start with the columns split, source, target, label"),
        ("split\tsource\ttarget\tlabel\ntest\ta\tb\n", "line 2 has 3 columns"),
        ("split\tsource\ttarget\tlabel\ndev\ta\tb\t1\n", "has a split 'dev'"),
        ("split\tsource\ttarget\tlabel\ntest\ta\tb\t2\n", "ends in '2'"),
        ("split\tsource\ttarget\tlabel\ntest\ta\tb\t-1\n", "ends in '-1'"),
    ],
)
def test_a_wrong_label_file_is_refused_in_one_sentence(tmp_path, content, message):
    with pytest.raises(ReadError, match=message):
        folder(tmp_path, pairs=content).pairs()


def test_two_documents_of_one_id_are_refused(tmp_path):
    (tmp_path / "documents.jsonl").write_text(DOCUMENTS + DOCUMENTS, encoding="utf-8")
    with pytest.raises(ReadError, match="more than one document 'a'"):
        _ = DataFolder(tmp_path).ids


def test_a_folder_without_documents_is_refused(tmp_path):
    with pytest.raises(ReadError, match="is not a data folder"):
        DataFolder(tmp_path)
    with pytest.raises(ReadError, match="missing does not exist"):
        DataFolder(tmp_path / "missing")


@pytest.mark.parametrize(
    ("line", "message"), [("{", "line 1 is not JSON"), ('{"title": ""}', "has no id"), ('{"id": "a"}', None)]
)
def test_a_line_that_is_no_document_is_named(tmp_path, line, message):
    path = tmp_path / "documents.jsonl"
    path.write_text(line, encoding="utf-8")
    if message is None:
        assert next(iterate_records(path)).words == 0
    else:
        with pytest.raises(ReadError, match=message):
            list(iterate_records(path))


def test_the_writer_sorts_labels_and_drops_those_of_missing_documents(tmp_path):
    with CollectionWriter(tmp_path / "new") as writer:
        assert writer.add(RawDocument("b", "B", (Part("", "Words here."),)))
        assert writer.add(RawDocument("a", "A", (Part("", "More words."),)))
        assert not writer.add(RawDocument("a", "A again", (Part("", "Not written."),)))
        assert not writer.add(RawDocument("empty", "", (Part("", " "),)))
        for source, target in (("b", "a"), ("a", "b"), ("a", "gone")):
            writer.pair("test", source, target, 1)
        writer.judge("train", "a", "b", 2)
        summary = writer.finish()
    opened = DataFolder(tmp_path / "new")
    assert opened.ids == ("b", "a")
    assert [(p.source, p.target) for p in opened.pairs()] == [("a", "b"), ("b", "a")]
    assert (summary.documents, summary.pairs, summary.queries, summary.unreadable, summary.dropped) == (2, 2, 1, 1, 1)
    assert not (tmp_path / "new" / "pools.tsv").exists()


def test_a_build_that_fails_leaves_nothing_behind(tmp_path):
    with pytest.raises(RuntimeError), CollectionWriter(tmp_path / "new") as writer:
        writer.add(RawDocument("a", "A", (Part("", "Words."),)))
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_not_written_over(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(LongmatchError, match="already exists and is not empty"):
        CollectionWriter(tmp_path)


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT.filter(bool), TEXT, st.lists(st.tuples(TEXT, TEXT)))
def test_a_record_survives_its_line(id, title, parts):
    record = RawDocument(id, title, tuple(Part(*part) for part in parts))
    assert "\n" not in record.line()
    assert RawDocument.from_line(record.line()) == record
