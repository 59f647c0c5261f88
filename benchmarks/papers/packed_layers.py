"""Stored layers as a few arrays that compress well."""

import json
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.layer import Array, Arrays

Packed = Mapping[str, Array]
Unpacked = tuple[list[Arrays], Mapping[int, str]]  # the arrays of each document; those that could not be handled
Unpack = Callable[[Packed], Sequence[Unpacked]]


def pack_tokens(tokens: StoredLayer, records: StoredLayer) -> dict[str, Array]:
    """Tokens and records, without character positions."""
    ids, sentences = tokens.array("ids"), tokens.array("sentences")
    return {
        "ids": _small(ids),
        "word_starts": np.packbits(tokens.array("word_starts")),
        "lengths": sentences[:, 0],
        "paragraphs": np.diff(sentences[:, 2], prepend=0),
        "sections": np.diff(sentences[:, 3], prepend=0),
        "records": records.array("records"),
        "tokens_of": np.diff(tokens.bounds("ids")),
        "sentences_of": np.diff(tokens.bounds("sentences")),
        "bytes_of": np.diff(records.bounds("records")),
        "unhandled": _unhandled(tokens),
    }


def unpack_tokens(packed: Packed) -> list[Unpacked]:
    """Tokens, and records, which documents without tokens have too."""
    lengths = packed["lengths"]
    places = packed["paragraphs"].cumsum(), packed["sections"].cumsum()
    sentences = np.stack([lengths, np.zeros_like(lengths), *places], axis=1).astype(np.int32)
    count = len(packed["ids"])
    of_tokens = {
        "ids": packed["ids"].astype(np.int32),
        "starts": np.zeros(count, dtype=np.int32),
        "word_starts": np.unpackbits(packed["word_starts"], count=count).astype(bool),
    }
    parts = {name: _split(array, packed["tokens_of"]) for name, array in of_tokens.items()}
    parts["sentences"] = _split(sentences, packed["sentences_of"])
    records: list[Arrays] = [{"records": record} for record in _split(packed["records"], packed["bytes_of"])]
    return [(_by_document(parts), _restored(packed)), (records, {})]


def pack_words(words: StoredLayer) -> dict[str, Array]:
    """Hashed words as numbers of a vocabulary."""
    vocabulary, numbers = np.unique(words.array("words"), return_inverse=True)
    return {
        "vocabulary": vocabulary,
        "numbers": _small(numbers),
        "lengths": np.diff(words.array("bounds"), prepend=0),
        "words_of": np.diff(words.bounds("words")),
        "bounds_of": np.diff(words.bounds("bounds")),
        "unhandled": _unhandled(words),
    }


def unpack_words(packed: Packed) -> list[Unpacked]:
    """The words of each sentence."""
    parts = {
        "words": _split(packed["vocabulary"][packed["numbers"]], packed["words_of"]),
        "bounds": _split(packed["lengths"].cumsum(), packed["bounds_of"]),
    }
    return [(_by_document(parts), _restored(packed))]


def _small(numbers: Array) -> Array:
    return numbers.astype(np.uint16 if numbers.max(initial=0) < 2**16 else np.uint32)


def _split(array: Array, counts: Array) -> list[Array]:
    return np.split(array, counts.cumsum()[:-1])


def _by_document(parts: Mapping[str, Sequence[Array]]) -> list[Arrays]:
    return [dict(zip(parts, each, strict=True)) for each in zip(*parts.values(), strict=True)]


def _unhandled(layer: StoredLayer) -> Array:
    return np.array(json.dumps(layer.unhandled))


def _restored(packed: Packed) -> dict[int, str]:
    return {int(number): why for number, why in json.loads(str(packed["unhandled"])).items()}
