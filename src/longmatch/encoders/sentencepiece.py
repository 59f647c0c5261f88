"""A SentencePiece unigram model as a tokenizer of the library `tokenizers`: its file is read as it was written."""

import struct
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer
from tokenizers.models import Unigram
from tokenizers.normalizers import Precompiled, Replace, Sequence, Strip
from tokenizers.pre_tokenizers import Metaspace

START, END = 1, 2  # ids of the tokens around a text
UNKNOWN = 0
PIECES, NORMALISERS = 1, (2, 3)  # fields of the file; which of the latter holds the table differs by its age
TEXT, SCORE, TABLE = 1, 2, 2  # fields within them
LEAST_TABLE = 1_000  # bytes of a table of characters; other strings in that place are shorter
VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5  # how a field is stored


def read_sentencepiece(path: Path) -> Tokenizer:
    """The tokenizer of a unigram model; the positions of its tokens are those of the text given."""
    content = path.read_bytes()
    pieces: list[tuple[str, float]] = []
    table = b""
    for field, value in _fields(content):
        inside = dict(_fields(value)) if field == PIECES or field in NORMALISERS else {}
        if field == PIECES:
            pieces.append((inside[TEXT].decode(), *struct.unpack("<f", inside.get(SCORE, bytes(4)))))
        elif len(inside.get(TABLE, b"")) > LEAST_TABLE:
            table = inside[TABLE]
    tokenizer = Tokenizer(Unigram(pieces, unk_id=UNKNOWN, byte_fallback=False))
    tokenizer.normalizer = Sequence([Precompiled(table), Strip(), Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = Metaspace(replacement="▁", prepend_scheme="always", split=True)
    return tokenizer


def _fields(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message of protocol buffers, by their numbers; those stored as varints are left out."""
    position = 0
    while position < len(content):
        key, position = _varint(content, position)
        number, stored = key >> 3, key & 7
        if stored == VARINT:
            _, position = _varint(content, position)
            continue
        if stored == LENGTH:
            length, position = _varint(content, position)
        elif stored in (EIGHT_BYTES, FOUR_BYTES):
            length = 8 if stored == EIGHT_BYTES else 4
        else:
            raise ValueError("not a SentencePiece model")
        yield number, content[position : position + length]
        position += length


def _varint(content: bytes, position: int) -> tuple[int, int]:
    """The number that begins at a position, and where it ends."""
    value = shift = 0
    while True:
        byte = content[position]
        value, shift, position = value | (byte & 0x7F) << shift, shift + 7, position + 1
        if byte < 0x80:
            return value, position
