"""Bad training input is refused in one sentence, and a way out is named."""

import pytest

from longmatch.errors import LongmatchError
from tests.lab.training.data.conftest import ids_of, lines, table

PAIRS = "split source target label"
GOOD = [("train", "a", "b", 1), ("train", "a", "c", 0), ("validation", "b", "c", 1), ("validation", "b", "d", 0)]


def says(message: str):
    return pytest.raises(LongmatchError, match=message)


@pytest.mark.parametrize(
    ("name", "columns", "row"),
    [
        ("pairs", PAIRS, ("train", "a", "lost", 1)),
        ("qrels", "split query document grade", ("train", "lost", "a", 1)),
        ("links", "source target", ("a", "lost")),
        ("classes", "document label", ("lost", "x")),
    ],
)
def test_labels_naming_unknown_documents_are_refused(make, opened, name, columns, row):
    with says(rf"{name}\.tsv names 1 unknown documents, the first of them 'lost'\. Add them"):
        opened(make("abc", **{name: table(columns, [row])}))


@pytest.mark.parametrize("split", ["train", "validation"])
def test_an_empty_split_is_refused(make, opened, split):
    data = opened(make("abcd", pairs=table(PAIRS, [row for row in GOOD if row[0] != split])))
    with says(rf"pairs\.tsv has no labels in the {split} split\. Add some"):
        data.pairs(split)


def test_a_table_without_rows_is_an_empty_split(make, opened):
    with says(r"pairs\.tsv has no labels in the train split"):
        opened(make("ab", pairs=table(PAIRS, []))).pairs("train")


@pytest.mark.parametrize(("label", "kind"), [(1, "matches"), (0, "non-matches")])
@pytest.mark.parametrize("split", ["train", "validation"])
def test_only_one_label_is_refused(make, opened, label, kind, split):
    rows = [row for row in GOOD if row[0] != split or row[3] == label]
    data = opened(make("abcd", pairs=table(PAIRS, rows)))
    with says(rf"pairs\.tsv has only {kind} in the {split} split \(label {label}\)\. Add "):
        data.pairs(split)


def test_only_one_class_is_refused(make, opened):
    ids = [*ids_of("train", 3), *ids_of("validation", 3)]
    data = opened(make(ids, classes=table("document label", [(id, "x") for id in ids])))
    with says(r"classes\.tsv has only one class in the train split, '\w+'\. Add documents of another\."):
        data.pairs("train")


def test_classes_that_leave_a_split_empty_are_refused(make, opened):
    ids = ids_of("train", 4)
    data = opened(make(ids, classes=table("document label", [(id, id) for id in ids])))
    with says(r"classes\.tsv has no labels in the validation split"):
        data.pairs("validation")


def test_two_classes_of_one_document_are_refused(make, opened):
    with says(r"classes\.tsv gives 'a' two classes"):
        opened(make("ab", classes=table("document label", [("a", "x"), ("a", "y")])))


def test_pairs_are_not_learned_from_bare_documents(make, opened):
    with says(r"data has no labels that tell which documents match\. Add pairs\.tsv"):
        opened(make("ab")).pairs("train")


def test_one_document_is_too_few_to_hold_one_out(make, opened):
    with says("has too few documents to hold one out for validation"):
        opened(make("a")).documents("train")


def test_a_folder_without_documents_is_refused(tmp_path, opened):
    (tmp_path / "empty").mkdir()
    with says(r"empty holds no documents\. Name a folder with documents\.jsonl"):
        opened(tmp_path / "empty")


def test_documents_without_any_text_are_refused_with_the_reason(tmp_path, opened):
    (tmp_path / "blank.jsonl").write_text('{"id": "a", "text": ""}\n')
    with says(r"blank\.jsonl holds no documents that can be read\. .*line 1, holds no sentences"):
        opened(tmp_path / "blank.jsonl")


def test_a_line_that_is_no_document_is_named(tmp_path, opened):
    (tmp_path / "bad.jsonl").write_text(lines("ab") + "{\n")
    with says(r"bad\.jsonl, line 3, is not JSON"):
        opened(tmp_path / "bad.jsonl")


def test_a_path_that_is_not_there_is_named(tmp_path, opened):
    with says(r"nowhere does not exist\. Check the name"):
        opened(tmp_path / "nowhere")


def test_no_path_at_all_is_refused(opened):
    with says("There is nothing to learn from"):
        opened()


def test_two_folders_of_one_name_are_refused(make, opened):
    folder = make("ab")
    with says("Two sources of documents are called data"):
        opened(folder, folder / "documents.jsonl")


def test_two_documents_of_one_id_are_refused(make, opened):
    with says("More than one document has the id 'a'"):
        opened(make("aba"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (table("from to", []), "starts with the columns from, to, which longmatch cannot learn from"),
        ("", "starts with the columns none"),
        (table("source target target", []), "starts with the columns source, target, target"),
        (table(PAIRS, [("train", "a", "b")]), "line 2 has 3 columns"),
        (table(PAIRS, [("dev", "a", "b", 1)]), "has a split 'dev'"),
        (table(PAIRS, [("train", "a", "b", 2)]), "has a label '2'. That should be 0 or 1"),
        (table("split query document grade", [("train", "a", "b", "-1")]), "has a grade '-1'"),
    ],
)
def test_a_wrong_label_file_is_refused(make, opened, content, message):
    with says(message):
        opened(make("ab", pairs=content))
