"""A shelf gives back the tokens of each document, is written whole or not at all, and is not made twice."""

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longmatch.documents import Document
from longmatch.encoders.pretrained import default_folder
from longmatch.errors import LongmatchError, ReadError
from longmatch.lab.papers.colde.augmentation import chunk_ranges
from longmatch.lab.store.shelf import TokenShelf
from longmatch.units import Tokens, tokenize
from tests.effort import tried
from tests.lab.store.shelf_items import essay, essay_or_nothing
from tests.units.random_documents import DOCUMENTS

ARRAYS = ("ids", "word_starts", "sentence_offsets", "sentence_paragraph", "sentence_section")


def same(one: Tokens, other: Tokens) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        and getattr(one, name).dtype == getattr(other, name).dtype
        for name in ARRAYS
    )


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@given(documents=st.lists(DOCUMENTS, max_size=4))
@settings(max_examples=tried(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_shelf_gives_back_the_tokens_of_every_document(tokenizer, tmp_path_factory, documents):
    documents = [Document(str(i), d.title, d.text, d.sections, plain=d.plain) for i, d in enumerate(documents)]
    shelf = TokenShelf.build(tmp_path_factory.mktemp("shelves") / "shelf", documents, tokenizer)
    assert shelf.ids == tuple(str(i) for i in range(len(documents)))
    for number, (document, tokens) in enumerate(zip(documents, shelf, strict=True)):
        whole = tokenize(document, tokenizer)
        assert same(tokens, whole)
        assert (tokens.document.title, tokens.document.text) == (document.title, "")
        assert shelf.piece(number, 1, 4).tolist() == whole.ids[1:4].tolist()
        assert (shelf.lengths[number], shelf.number(str(number))) == (len(whole), number)
        assert chunk_ranges(tokens, 3, 7).last.tolist() == chunk_ranges(whole, 3, 7).last.tolist()


def test_the_shelf_is_the_same_whatever_the_number_of_processes(wordpiece, tmp_path):
    for processes in (1, 2):
        TokenShelf.build(
            tmp_path / str(processes), range(50), wordpiece, processes=processes, read=essay_or_nothing, source="essays"
        )
    assert content(tmp_path / "1") == content(tmp_path / "2")
    shelf = TokenShelf.open(tmp_path / "2")
    assert same(shelf[20], tokenize(essay(21), wordpiece))  # 7 is missing


def test_numbers_are_four_bytes_on_disk_and_memory_mapped(wordpiece, tmp_path):
    shelf = TokenShelf.build(tmp_path / "shelf", map(essay, range(5)), wordpiece)
    raw = np.load(tmp_path / "shelf" / "tokens.npy", mmap_mode="r")
    assert raw.dtype == np.int32 and len(raw) == shelf.lengths.sum() == shelf.facts["tokens"]
    assert isinstance(shelf._tokens, np.memmap)
    assert not isinstance(shelf[2].ids, np.memmap) and len(shelf[2].ids) < len(raw)


def test_a_document_that_cannot_be_read_is_left_out_and_named(wordpiece, tmp_path):
    shelf = TokenShelf.build(tmp_path / "shelf", range(10), wordpiece, read=essay_or_nothing)
    assert len(shelf) == 9 and "essay-7" not in shelf and "essay-8" in shelf
    assert shelf.unread["essay-7"].why == "it is blank"


def test_labels_of_documents_are_kept(wordpiece, tmp_path):
    shelf = TokenShelf.build(tmp_path / "shelf", map(essay, range(4)), wordpiece)
    assert shelf.labels == (None, "kind 1", None, "kind 0")


def test_a_pickled_shelf_is_only_its_folders_name(wordpiece, tmp_path):
    shelf = TokenShelf.build(tmp_path / "shelf", map(essay, range(40)), wordpiece)
    pickled = pickle.dumps(shelf)
    assert len(pickled) < 500
    assert same(pickle.loads(pickled)[3], shelf[3])


def test_what_a_tokenizer_would_cut_off_is_on_the_shelf(wordpiece, tmp_path):
    from tokenizers import Tokenizer

    cutting = Tokenizer.from_str(wordpiece.to_str())
    cutting.enable_truncation(4)
    cutting.enable_padding(length=30)
    shelf = TokenShelf.build(tmp_path / "shelf", [essay(1)], cutting)
    assert same(shelf[0], tokenize(essay(1), wordpiece))


def counted(taken: list[int], count: int = 5) -> Iterator[int]:
    for number in range(count):
        taken.append(number)
        yield number


def test_a_shelf_is_made_once_for_a_source_and_a_tokenizer(wordpiece, tiny_bert, tmp_path):
    from tokenizers import Tokenizer

    other = Tokenizer.from_file(str(tiny_bert / "tokenizer.json"))
    taken: list[int] = []
    made = []
    for source, tokenizer in [("a", wordpiece), ("a", wordpiece), ("b", wordpiece), ("b", other), ("", other)]:
        TokenShelf.build(tmp_path / "shelf", counted(taken), tokenizer, read=essay, source=source)
        made.append(len(taken))
    assert made == [5, 5, 10, 15, 20]


def test_a_damaged_shelf_is_refused_by_open_and_made_again_by_build(wordpiece, tmp_path):
    folder = tmp_path / "shelf"
    first = TokenShelf.build(folder, range(5), wordpiece, read=essay, source="a")
    tokens = folder / "tokens.npy"
    tokens.write_bytes(tokens.read_bytes()[:-40])
    with pytest.raises(ReadError, match=r"shelf is not a whole shelf of tokens\. Remove it"):
        TokenShelf.open(folder)
    again = TokenShelf.build(folder, range(5), wordpiece, read=essay, source="a")
    assert again.lengths.tolist() == first.lengths.tolist()


def test_progress_counts_the_documents(wordpiece, tmp_path):
    told: list[int] = []
    TokenShelf.build(tmp_path / "shelf", range(20), wordpiece, told.append, read=essay, processes=2)
    assert sum(told) == 20


def test_two_documents_of_one_id_are_refused_and_nothing_is_left(wordpiece, tmp_path):
    with pytest.raises(LongmatchError, match=r"More than one document has the id 'essay-3'\."):
        TokenShelf.build(tmp_path / "shelf", [1, 2, 3, 3], wordpiece, read=essay)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_build_leaves_no_shelf_and_the_next_one_makes_it(wordpiece, tmp_path, processes):
    folder, tokenizer = tmp_path / "shelf", default_folder() / "tokenizer.json"
    command = [sys.executable, "-m", "tests.lab.store.shelf_items", str(folder), str(tokenizer), str(processes)]
    process = subprocess.run(command, cwd=Path(__file__).parents[3], check=False, timeout=300)
    assert process.returncode == -9
    assert not folder.exists() and folder.with_name("shelf.partial").exists()
    shelf = TokenShelf.build(folder, range(40), wordpiece, read=essay, source="essays")
    assert len(shelf) == 40
    assert not folder.with_name("shelf.partial").exists()


def test_documents_are_taken_only_a_bounded_number_ahead(wordpiece, tmp_path):
    taken: list[int] = []
    ahead: list[int] = []
    done = 0

    def progress(count: int) -> None:
        nonlocal done
        done += count
        ahead.append(len(taken) - done)

    TokenShelf.build(tmp_path / "shelf", counted(taken, 300), wordpiece, progress, 2, read=essay)
    assert done == 300 and max(ahead) <= 72


def test_a_folder_that_cannot_be_written_is_named(wordpiece, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LongmatchError, match="cannot be written"):
        TokenShelf.build(tmp_path / "file" / "shelf", [essay(1)], wordpiece)
