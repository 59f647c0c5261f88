"""A collection of tokens gives back the tokens of each document, and evaluation and training share it."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from longmatch.documents import Document
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.papers.colde.encoder import chunk_ranges
from longmatch.lab.store import store
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenCollection, TokenLayer, restore_tokens
from longmatch.lab.training.data.training_data import TrainingData
from longmatch.units import Tokens, tokenize
from tests.effort import tried
from tests.lab.store.essays import essay, essay_or_nothing, source_of, token_collection
from tests.units.random_documents import DOCUMENTS

ARRAYS = ("ids", "word_starts", "sentence_offsets", "sentence_paragraph", "sentence_section")


def same(one: Tokens, other: Tokens, names: tuple[str, ...] = ARRAYS) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        and getattr(one, name).dtype == getattr(other, name).dtype
        for name in names
    )


@given(documents=st.lists(DOCUMENTS, max_size=4))
@settings(max_examples=tried(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_collection_gives_back_the_tokens_of_every_document(tokenizer, tmp_path_factory, documents):
    documents = [Document(str(i), d.title, d.text, d.sections, plain=d.plain) for i, d in enumerate(documents)]
    tokens = token_collection(tmp_path_factory.mktemp("stores"), documents, tokenizer)
    assert tokens.ids == tuple(str(i) for i in range(len(documents)))
    for number, (document, stored) in enumerate(zip(documents, tokens, strict=True)):
        whole = tokenize(document, tokenizer)
        assert same(stored, whole)
        assert (stored.document.title, stored.document.text) == (document.title, "")
        assert tokens.piece(number, 1, 4).tolist() == whole.ids[1:4].tolist()
        assert (tokens.lengths[number], tokens.number(str(number))) == (len(whole), number)
        assert tokens.sentence_counts[number] == len(whole.sentence_paragraph)
        assert chunk_ranges(stored, 3, 7).last.tolist() == chunk_ranges(whole, 3, 7).last.tolist()


def test_numbers_are_four_bytes_on_disk_and_memory_mapped(wordpiece, tmp_path):
    tokens = token_collection(tmp_path, map(essay, range(5)), wordpiece)
    (path,) = tmp_path.glob("*/tokens-*/ids.npy")
    raw = np.load(path, mmap_mode="r")
    assert raw.dtype == np.int32 and len(raw) == tokens.lengths.sum()
    assert not tokens._ids.flags.owndata and not tokens._ids.flags.writeable
    assert tokens[2].ids.flags.owndata and len(tokens[2].ids) < len(raw)


def test_a_document_that_cannot_be_read_is_left_out_and_named(wordpiece, tmp_path):
    tokens = TokenCollection.build(tmp_path, source_of(range(10), essay_or_nothing), wordpiece)
    assert len(tokens) == 9 and "essay-7" not in tokens and "essay-8" in tokens
    assert tokens.unreadable["essay-7"].why == "it is blank"
    assert same(tokens[tokens.number("essay-8")], tokenize(essay(8), wordpiece))


def test_a_document_without_sentences_has_no_tokens(wordpiece, tmp_path):
    tokens = token_collection(tmp_path, [essay(1), Document("empty", "Nothing", "", ()), essay(2)], wordpiece)
    assert tokens.ids[1] == "empty" and not tokens.unreadable
    assert (len(tokens[1]), tokens.lengths[1], tokens.sentence_counts[1]) == (0, 0, 0)
    assert same(tokens[2], tokenize(essay(2), wordpiece))


def test_labels_of_documents_are_kept(wordpiece, tmp_path):
    tokens = token_collection(tmp_path, map(essay, range(4)), wordpiece)
    assert tokens.labels == (None, "kind 1", None, "kind 0")


def test_a_pickled_collection_is_only_its_folders_names(wordpiece, tmp_path):
    tokens = token_collection(tmp_path, map(essay, range(40)), wordpiece)
    pickled = pickle.dumps(tokens)
    assert len(pickled) < 800
    assert same(pickle.loads(pickled)[3], tokens[3])


def test_what_a_tokenizer_would_cut_off_is_stored(wordpiece, tmp_path):
    cutting = Tokenizer.from_str(wordpiece.to_str())
    cutting.enable_truncation(4)
    cutting.enable_padding(length=30)
    assert same(token_collection(tmp_path, [essay(1)], cutting)[0], tokenize(essay(1), wordpiece))


def test_evaluation_reads_the_tokens_that_training_has_made(
    wordpiece, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    lines = [f'{{"id": "{n}", "text": "Essay {n} is about rain. It rained."}}\n' for n in range(3)]
    (folder / "documents.jsonl").write_text("".join([*lines[:2], '{"id": "blank", "text": ""}\n', lines[2]]))
    training = TrainingData.open(folder, wordpiece, tmp_path / "cache").tokens
    monkeypatch.setattr(store, "read_documents", lambda *_: pytest.fail("the documents were read again"))
    corpus = Corpus(DataFolder(folder))
    (stored,) = LayerStore.of(tmp_path / "cache", corpus.source).build([TokenLayer(wordpiece)])
    assert corpus.ids == ("0", "1", "blank", "2") and list(stored.unhandled) == [2]
    assert training.ids == ("0", "1", "2")
    assert same(restore_tokens(stored.document(3), Document("2", "", "", ())), training[2])
