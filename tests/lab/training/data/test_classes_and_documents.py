"""Classes by split, documents without labels, the forms in which they come, and the tokens kept of them."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from longmatch.lab.training.data.training_data import TrainingData
from tests.lab.training.data.conftest import ids_of, lines, table

TRAIN, VALIDATION = ids_of("train", 6), ids_of("validation", 4)
KINDS = {id: f"kind {n % 2}" for n, id in enumerate([*TRAIN, *VALIDATION])}


def matches(data: TrainingData, split: str) -> dict[frozenset[str], bool]:
    """The pairs of a split, and whether they match."""
    pairs, ids = data.pairs(split), data.tokens.ids
    rows = zip(pairs.source.tolist(), pairs.target.tolist(), pairs.label.tolist(), strict=True)
    return {frozenset((ids[source], ids[target])): bool(label) for source, target, label in rows}


@pytest.fixture
def by_table(make, opened) -> TrainingData:
    return opened(make(KINDS, classes=table("document label", KINDS.items())))


@pytest.mark.parametrize(("split", "ids"), [("train", TRAIN), ("validation", VALIDATION)])
def test_classes_of_a_table_are_split_by_the_ids(by_table, split, ids):
    assert {by_table.tokens.ids[number] for number in by_table.labelled(split)} == set(ids)
    assert frozenset().union(*matches(by_table, split)) == set(ids)


def test_classes_stand_in_the_documents_themselves_too(tmp_path, opened, by_table):
    path = tmp_path / "cases.jsonl"
    path.write_text(lines([*KINDS, "none"], {id: {"label": label} for id, label in KINDS.items()}), encoding="utf-8")
    data = opened(path)
    assert len(data.tokens) == len(KINDS) + 1
    assert matches(data, "train") == matches(by_table, "train")


def test_pairs_of_classes_match_where_the_class_is_the_same(by_table):
    pairs = by_table.pairs("train")
    ids = by_table.tokens.ids
    assert sorted(pairs.source.tolist()) == sorted([by_table.tokens.number(id) for id in TRAIN] * 2)
    for source, target, label in zip(pairs.source, pairs.target, pairs.label, strict=True):
        assert source != target and {ids[source], ids[target]} <= set(TRAIN)
        assert (KINDS[ids[source]] == KINDS[ids[target]]) == bool(label)


def test_documents_of_one_training_class_are_related(by_table):
    ids = [TRAIN[0], TRAIN[1], TRAIN[2], VALIDATION[0], VALIDATION[2]]
    assert [KINDS[id] for id in ids] == ["kind 0", "kind 1", "kind 0", "kind 0", "kind 0"]
    known = by_table.related(np.array([by_table.tokens.number(id) for id in ids]))
    expected = np.eye(5, dtype=bool)
    expected[0, 2] = expected[2, 0] = True  # training knows nothing of the classes of validation
    assert known.tolist() == expected.tolist()


def test_a_twentieth_of_the_documents_is_held_out_by_their_ids(make, opened):
    ids = [f"d{n}" for n in range(600)]
    data = opened(make(ids))
    train, held = data.documents("train"), data.documents("validation")
    assert sorted([*train, *held]) == list(range(600))
    assert 15 <= len(held) <= 50
    backwards = opened(make(ids[::-1], "backwards"), make("x", "other"))
    assert {backwards.tokens.ids[n] for n in backwards.documents("validation")} >= {f"backwards/d{n}" for n in held}


def test_of_a_few_documents_one_is_held_out(make, opened):
    data = opened(make("abc"))
    assert len(data.documents("validation")) == 1 and len(data.documents("train")) == 2


def test_facts_say_how_many_documents_of_later_splits_are_read_without_labels(make, opened):
    rows = [("train", "a", "b", 1), ("train", "a", "c", 0), ("test", "d", "a", 1), ("validation", "e", "d", 1)]
    data = opened(make("abcdefgh", pairs=table("split source target label", rows)))
    later = {data.tokens.number(id) for id in "ade"}
    read = set(data.documents("train").tolist())
    assert data.facts["without_labels"]["train_documents_that_validation_or_test_labels_name"] == len(later & read)
    assert set(data.labelled("test").tolist()) == {0, 3}
    assert data.facts["pairs"]["train"] == {"matches": 1, "others": 1}


def test_a_folder_of_files_is_read_whatever_their_kind(tmp_path, opened):
    folder = tmp_path / "papers"
    (folder / "sub").mkdir(parents=True)
    (folder / "one.txt").write_text("One paper. It is short.")
    (folder / "sub" / "two.md").write_text("# Two\n\nAnother paper.")
    (folder / "more.jsonl.gz").write_bytes(gzip.compress(lines(["three"]).encode()))
    (folder / "pairs.tsv").write_text(
        table("split source target label", [("train", "one.txt", "three", 1), ("train", "one.txt", "sub/two.md", 0)])
    )
    data = opened(folder)
    assert sorted(data.tokens.ids) == ["one.txt", "sub/two.md", "three"]
    assert data.pairs("train").label.tolist() == [1, 0]


def test_a_table_goes_with_the_documents_before_it_and_instead_of_those_found(make, tmp_path, opened):
    folder = make("abc", documents="articles.jsonl", pairs=table("split source target", [("train", "a", "b")]))
    (tmp_path / "mine.tsv").write_text(table("split source target", [("train", "b", "c")]))
    assert opened(folder / "articles.jsonl").positives.tolist() == [[0, 1]]
    assert opened(folder / "articles.jsonl", tmp_path / "mine.tsv").positives.tolist() == [[1, 2]]


def test_a_table_alone_goes_with_the_documents_beside_it(make, opened):
    folder = make("abc", mine=table("split source target", [("train", "a", "c")]))
    data = opened(folder / "mine.tsv")
    assert data.tokens.ids == ("a", "b", "c") and data.positives.tolist() == [[0, 2]]


def test_documents_are_tokenised_once_until_they_change(make, opened):
    folder = make("abc")
    made: list[int] = []
    opened(folder, progress=made.append)
    opened(folder, progress=made.append)
    assert sum(made) == 3
    (folder / "documents.jsonl").write_text(lines("abcd"), encoding="utf-8")
    assert len(opened(folder, progress=made.append).tokens) == 4
    assert sum(made) == 7


def test_documents_are_the_same_read_in_two_processes(make, opened, tmp_path, tiny_bert):
    from tokenizers import Tokenizer

    folder = make([f"d{n}" for n in range(40)])
    alone = opened(folder)
    tokenizer = Tokenizer.from_file(str(tiny_bert / "tokenizer.json"))
    both = TrainingData.open(folder, tokenizer, tmp_path / "other cache", processes=2)
    assert _content(alone.tokens.store.folder) == _content(both.tokens.store.folder)


def _content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.npy")}
