"""Token vectors: sums of what a table holds for each token, and nothing else."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from longmatch.encoders import token_vectors
from longmatch.encoders.pretrained import TOKEN_VECTORS
from longmatch.encoders.token_vectors import TABLE, TOKENIZER, TokenVectors
from longmatch.errors import LongmatchError

WORDS = ["river", "unfathomable", "harbour", "river", "déjà", "x" * 200]


@pytest.fixture(scope="module")
def table() -> TokenVectors:
    return TokenVectors.load()


def test_a_text_is_the_sum_of_its_tokens(table):
    tokens = table.split(WORDS)
    vectors = table.encode(tokens, np.array([0, 1, 3, 2]), np.array([0, 3, 3, 4]))
    rows = table.table.astype(np.float64) * table.scales[:, None]
    for found, words in zip(vectors, ([0, 1, 3], [], [2]), strict=True):
        ids = [id for word in words for id in table.tokenizer.encode(WORDS[word], add_special_tokens=False).ids]
        total = rows[ids].sum(0)
        assert np.allclose(found, total / max(np.linalg.norm(total), 1e-12), atol=1e-5)


def test_words_are_split_as_the_tokenizer_does_it_asked_once_or_again(table):
    for _ in range(2):
        tokens = table.split(WORDS)
        for number, word in enumerate(WORDS):
            ids = tokens.ids[tokens.offsets[number] : tokens.offsets[number + 1]].tolist()
            assert ids == table.tokenizer.encode(word, add_special_tokens=False).ids


def test_words_are_forgotten_when_there_are_too_many(table, monkeypatch):
    monkeypatch.setattr(token_vectors, "MOST_KNOWN", 3)
    fresh = TokenVectors(table.table, table.scales, table.tokenizer, TOKEN_VECTORS, frozenset({"en"}))
    before = fresh.split(WORDS)
    for word in WORDS:
        fresh.split([word, "flood"])
    after = fresh.split(WORDS)
    assert np.array_equal(before.ids, after.ids) and np.array_equal(before.offsets, after.offsets)


def test_int8_changes_no_sum_by_much(table):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(table.tokenizer.get_vocab_size(), 64)).astype(np.float32)
    narrow = TokenVectors.of(vectors, table.tokenizer)
    words = narrow.split(["the", "river", "rose", "over", "its", "banks"])
    ids = words.ids.tolist()
    exact = vectors[ids].sum(0)
    found = narrow.encode(words, np.arange(6), np.array([0, 6]))[0]
    assert float(found @ exact) / np.linalg.norm(exact) > 0.9998


def test_what_is_written_is_read_again(table, tmp_path):
    table.save(tmp_path)
    again = TokenVectors.load(tmp_path)
    assert again.identity == table.identity and again.name == str(tmp_path) and again.width == table.width


def test_a_table_that_does_not_fit_its_tokenizer_is_refused_in_a_sentence(table, tmp_path):
    table.save(tmp_path)
    save_file({"table": table.table[:100], "scales": table.scales[:100]}, tmp_path / TABLE)
    with pytest.raises(LongmatchError, match="does not fit its tokenizer"):
        TokenVectors.load(tmp_path)
    (tmp_path / TABLE).write_bytes(b"nothing")
    with pytest.raises(LongmatchError, match="cannot be opened"):
        TokenVectors.load(tmp_path)


def test_the_shipped_table_is_small_and_has_a_row_a_token(table):
    assert (token_vectors.FOLDER / TABLE).stat().st_size < 10_000_000
    vocabulary = Tokenizer.from_file(str(Path(token_vectors.FOLDER) / TOKENIZER)).get_vocab_size()
    assert len(table.table) == vocabulary <= 1 << 16  # ids are stored in 16 bits
