"""An encoded document as a row of the store, and back.

A document's structure is stored as flat lists; a transformer's sentence vectors in float16 or, at half the size, in
int8. Token vectors are summed when they are needed: of them the tokens are stored.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Literal, TypeVar, cast, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from longmatch.default.encoding import Encoding
from longmatch.default.meaning import KnownVectors, SummedVectors, TableMeaning, Vectors
from longmatch.documents.document import (
    Document,
    Kind,
    Paragraph,
    RestoredSections,
    Section,
    Sentence,
    content_hash,
)
from longmatch.encoders.token_vectors import WordTokens
from longmatch.lexical.terms import Hashes, Stream, Terms
from longmatch.matching.levels import SIZES, SentenceVectors
from longmatch.matching.sentences import Sentences
from longmatch.ragged import offsets_of

T = TypeVar("T")

OpenMeaning = Callable[[], TableMeaning]
VectorType = Literal["float16", "int8", "none"]  # none are stored where they are made from tokens
VECTOR_TYPES: tuple[VectorType, ...] = get_args(VectorType)[:2]  # of a transformer's
ARROW_TYPES = {"float16": pa.float16(), "int8": pa.int8()}
INT8_MAX = 127

PARAGRAPH_KINDS: tuple[Kind, ...] = ("text", "caption", "footnote", "table", "reference", "code")


def _list_of(**fields: pa.DataType) -> pa.DataType:
    return pa.list_(pa.struct([*fields.items()]))


_NUMBER = pa.int32()
SECTIONS = _list_of(start=_NUMBER, end=_NUMBER, heading=pa.string(), level=pa.int8(), paragraphs=_NUMBER)
PARAGRAPHS = _list_of(start=_NUMBER, end=_NUMBER, kind=pa.int8(), page=_NUMBER, sentences=_NUMBER)
"""A section has the number of its paragraphs, a paragraph that of its sentences, its kind as a position in
PARAGRAPH_KINDS, and page 0 in formats without pages."""
SENTENCES = _list_of(start=_NUMBER, end=_NUMBER)
PAGE_BREAKS = _list_of(start=_NUMBER, page=_NUMBER)
PIECES = _list_of(start=_NUMBER, end=_NUMBER, tokens=_NUMBER, paragraph=_NUMBER, section=_NUMBER)
"""The model's input: sentences, long ones split."""

STREAM_COLUMNS = ("vocabulary", "stream", "offsets")
DOCUMENT_COLUMNS = [
    *("id", "source", "title", "language", "words", "metadata"),
    *("text", "plain", "sections", "paragraphs", "sentences", "page_breaks"),
]
TOKEN_COLUMNS = ("tokens", "word_tokens")
SENTENCE_COLUMNS = ["id", "vectors", "expectations", *STREAM_COLUMNS, *TOKEN_COLUMNS]
ENCODING_COLUMNS = list(dict.fromkeys([*DOCUMENT_COLUMNS, "pieces", "title_vector", "mean", *SENTENCE_COLUMNS]))
INDEX_COLUMNS = ["id", "hash", "title", "language", "mean", "title_vector", *STREAM_COLUMNS]
RECORD_COLUMNS = [name for name in ENCODING_COLUMNS if name not in ("title_vector", "mean", "vocabulary")]
"""The columns that are needed to restore a document or its encoding, to compare its sentences, to index it, and those
of its record in the index."""


def schema_for(width: int, vector_type: VectorType = "float16") -> pa.Schema:
    """The columns of the store, for vectors of `width` numbers; `vector_type` is that of the sentence vectors."""
    sentences = [("tokens", pa.list_(pa.uint16())), ("word_tokens", pa.list_(pa.uint8()))]  # of the distinct words
    if vector_type != "none":
        of_pieces = pa.list_(ARROW_TYPES[vector_type])  # flat; with the expectations of each piece's score by chance
        sentences = [("vectors", of_pieces), ("expectations", pa.list_(pa.float16()))]
    return pa.schema(
        [
            ("id", pa.string()),
            ("source", pa.string()),  # relative to the library's parent folder if below it
            ("hash", pa.string()),  # of the content
            ("title", pa.string()),
            ("language", pa.string()),
            ("words", pa.int32()),
            ("metadata", pa.json_(pa.utf8())),
            ("text", pa.large_string()),
            ("plain", pa.large_string()),
            ("sections", SECTIONS),
            ("paragraphs", PARAGRAPHS),
            ("sentences", SENTENCES),
            ("page_breaks", PAGE_BREAKS),  # old libraries lack this column
            ("pieces", PIECES),
            *sentences,
            ("mean", pa.list_(pa.float32(), width)),  # the document's vector
            ("title_vector", pa.list_(pa.float16())),  # zeros for no title; old libraries lack this column
            ("vocabulary", pa.list_(pa.uint64())),  # hashes of the distinct words, ascending
            ("stream", pa.list_(pa.uint32())),  # the running words, as positions in the vocabulary
            ("offsets", pa.list_(pa.uint32())),  # of the pieces in the stream, and its end
        ]
    )


def to_table(encodings: Sequence[Encoding], vector_type: VectorType = "float16") -> pa.Table:
    """One row per document, with sentence vectors of type `vector_type`, or the tokens that they are made from."""
    documents = [e.document for e in encodings]
    structures = [_structure(d) for d in documents]
    vocabularies, streams = zip(*(np.unique(e.terms.words.ids, return_inverse=True) for e in encodings), strict=True)
    means = np.stack([e.vector for e in encodings]).astype(np.float32)  # (documents, width)
    titles = [np.zeros(means.shape[1]) if e.title_vector is None else e.title_vector for e in encodings]
    metadata = [json.dumps(dict(d.metadata), ensure_ascii=False, default=str) for d in documents]
    schema = schema_for(means.shape[1], vector_type)
    columns: dict[str, Any] = {
        "id": [d.id for d in documents],
        "source": [d.source for d in documents],
        "hash": [content_hash(d) for d in documents],
        "title": [d.title for d in documents],
        "language": [d.language for d in documents],
        "words": [d.words for d in documents],
        "metadata": pa.ExtensionArray.from_storage(schema.field("metadata").type, pa.array(metadata, pa.utf8())),
        "text": [d.text for d in documents],
        "plain": [d.plain for d in documents],
        **{name: [s[name] for s in structures] for name in ("sections", "paragraphs", "sentences", "page_breaks")},
        "pieces": [
            _records(s.starts, s.ends, s.lengths, s.paragraph, s.section) for s in (e.sentences for e in encodings)
        ],
        "mean": pa.FixedSizeListArray.from_arrays(pa.array(means.ravel()), means.shape[1]),
        "title_vector": _lists([np.asarray(t, np.float16) for t in titles]),
        "vocabulary": _lists(vocabularies),
        "stream": _lists([s.astype(np.uint32) for s in streams]),
        "offsets": _lists([e.terms.words.offsets.astype(np.uint32) for e in encodings]),
    }
    if vector_type == "none":
        tokens = [e.tokens for e in encodings if e.tokens is not None]
        columns["tokens"] = _lists([each.ids for each in tokens])
        columns["word_tokens"] = _lists([np.diff(each.offsets).astype(np.uint8) for each in tokens])
    else:
        sentences = [e.sentence_vectors for e in encodings]
        columns["vectors"] = _lists([pack_vectors(each.vectors, vector_type) for each in sentences])
        columns["expectations"] = _lists([each.expectations.astype(np.float16).ravel() for each in sentences])
    arrays = []
    for field in schema:
        values = columns[field.name]
        arrays.append(values if isinstance(values, pa.Array) else pa.array(values, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def _lists(parts: Sequence[npt.NDArray[Any]]) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate(parts)))


def _records(*columns: Any) -> list[tuple[Any, ...]]:
    """Columns as a tuple for each of their rows."""
    return list(zip(*(c.tolist() if isinstance(c, np.ndarray) else c for c in columns), strict=True))


def pack_vectors(vectors: npt.NDArray[np.float32], vector_type: VectorType) -> npt.NDArray[Any]:
    """Unit vectors (vectors, width) as a flat array for the store.

    In int8 the largest number of each vector becomes 127. The factor is not stored: unpacking normalizes.

    >>> pack_vectors(np.array([[0.6, -0.8]], dtype=np.float32), "int8").tolist()
    [95, -127]
    """
    if vector_type == "float16":
        return vectors.astype(np.float16).ravel()
    scale = INT8_MAX / np.abs(vectors).max(axis=1, keepdims=True).clip(min=1e-12)
    return np.asarray((vectors * scale).round().astype(np.int8).ravel())


def unpack_vectors(stored: npt.NDArray[Any], count: int) -> npt.NDArray[np.float32]:
    """The vectors `pack_vectors` stored, as float32: (count, width)."""
    vectors = stored.astype(np.float32).reshape(count, -1)
    if stored.dtype == np.int8:
        vectors /= np.sqrt(np.einsum("ij,ij->i", vectors, vectors)).clip(min=1e-12)[:, None]
    return vectors


def _structure(document: Document) -> dict[str, list[tuple[Any, ...]]]:
    """Sections, paragraphs and sentences as lists of tuples, in the order of their columns."""
    paragraphs, kind_of = document.paragraphs, PARAGRAPH_KINDS.index
    return {
        "sections": [(s.start, s.end, s.heading, min(s.level, 127), len(s.paragraphs)) for s in document.sections],
        "paragraphs": [(p.start, p.end, kind_of(p.kind), p.page or 0, len(p.sentences)) for p in paragraphs],
        "sentences": [(s.start, s.end) for p in paragraphs for s in p.sentences],
        "page_breaks": list(document.page_breaks),
    }


Records = Sequence[tuple[Any, ...]]


def _sections(sections: Records, paragraphs: Records, sentences: Records) -> tuple[Section, ...]:
    """The sections, restored from the columns of `_structure`."""
    read = [
        Paragraph(start, end, tuple(parts), cast(Kind, PARAGRAPH_KINDS[kind]), page or None)
        for (start, end, kind, page, _), parts in _with_parts(paragraphs, [Sentence(*s) for s in sentences])
    ]
    return tuple(
        Section(start, end, heading, level, tuple(parts))
        for (start, end, heading, level, _), parts in _with_parts(sections, read)
    )


def _with_parts(parents: Records, parts: Sequence[T]) -> Iterator[tuple[tuple[Any, ...], Sequence[T]]]:
    """Each parent, whose last field counts its parts, with these."""
    ends = accumulate(parent[-1] for parent in parents)
    return ((parent, parts[end - parent[-1] : end]) for parent, end in zip(parents, ends, strict=True))


@dataclass(frozen=True)
class DocumentRow:
    """One row of the store: a position in a table."""

    table: pa.Table  # each column in one chunk
    position: int
    meaning: OpenMeaning | None = None  # opens what makes vectors, where tokens are stored

    def value(self, name: str) -> Any:
        """A plain value."""
        return self.table[name][self.position].as_py()

    def array(self, name: str) -> npt.NDArray[Any]:
        """A list of numbers."""
        return np.asarray(self.table[name].chunk(0)[self.position].values.to_numpy(zero_copy_only=False))

    @property
    def id(self) -> str:
        """The document's id."""
        return str(self.value("id"))

    def document(self) -> Document:
        """The document, with its structure."""
        metadata = json.loads(self.value("metadata") or "{}")
        texts = (self.value("title"), self.value("text"))
        facts = self.value("language"), self.value("source"), metadata
        breaks: tuple[Any, ...] = ()  # an older longmatch made tables without the column, and rows without a value
        if "page_breaks" in self.table.column_names and self.table["page_breaks"][self.position].is_valid:
            breaks = tuple(_records(*self._columns("page_breaks").values()))
        structure = [self._columns(name) for name in ("sections", "paragraphs", "sentences")]
        sections, paragraphs, _ = structure
        restored = RestoredSections(
            sections["heading"],
            paragraphs["start"],
            paragraphs["page"],
            lambda: _sections(*(_records(*columns.values()) for columns in structure)),
        )
        return Document(self.id, *texts, restored, *facts, plain=str(self.value("plain")), page_breaks=breaks)

    def terms(self, vocabulary: Hashes | None = None) -> Terms:
        """The hashed words, sentence by sentence; `vocabulary` is the distinct ones, where the row lacks them."""
        distinct = self.array("vocabulary").astype(np.uint64, copy=False) if vocabulary is None else vocabulary
        ids = distinct[self.array("stream")]
        return Terms(Stream(ids, self._offsets()))

    def _offsets(self) -> npt.NDArray[np.int64]:
        return self.array("offsets").astype(np.int64)

    def vectors(self) -> Vectors:
        """The vectors of the sentences, or what makes them; nothing of the table is kept."""
        if "tokens" not in self.table.column_names:
            expectations = self.array("expectations").reshape(-1, len(SIZES)).astype(np.float32)
            known = unpack_vectors(self.array("vectors"), len(expectations))
            return KnownVectors(SentenceVectors(known, expectations))
        if self.meaning is None:
            raise ValueError(f"nothing to make the vectors of {self.id} with")
        tokens = WordTokens(self.array("tokens").copy(), offsets_of(self.array("word_tokens").astype(np.int64)))
        return SummedVectors(self.meaning, self.array("stream").astype(np.int64), self._offsets(), tokens)

    def title_vector(self) -> npt.NDArray[np.float32] | None:
        """The vector of the title; None in libraries that lack the column."""
        if "title_vector" not in self.table.column_names:
            return None
        return self.array("title_vector").astype(np.float32)

    def pieces(self) -> list[npt.NDArray[np.int64]]:
        """Start, end, tokens, paragraph and section of each piece."""
        return [column.astype(np.int64) for column in self._columns("pieces").values()]

    def _columns(self, name: str) -> dict[str, Any]:
        """The fields of a list of structs, numbers as an array, all else as a list; nothing of the table is kept."""
        structs = self.table[name].chunk(0)[self.position].values
        return {
            field.name: column.to_numpy().copy() if pa.types.is_integer(field.type) else column.to_pylist()
            for field, column in zip(structs.type, structs.flatten(), strict=True)
        }

    def encoding(self, vocabulary: Hashes | None = None) -> Encoding:
        """The document's encoding; `vocabulary` is its distinct words, where the row lacks them."""
        sentences = Sentences(self.document(), *self.pieces())
        return Encoding(
            sentences, self.terms(vocabulary), self.vectors(), self.title_vector(), self.array("mean").copy()
        )


def rows_of(table: pa.Table, meaning: OpenMeaning | None = None) -> list[DocumentRow]:
    """The rows of a table; page breaks, which old libraries lack, are unknown there."""
    if "paragraphs" in table.column_names and "page_breaks" not in table.column_names:
        table = table.append_column("page_breaks", pa.nulls(table.num_rows, PAGE_BREAKS))
    combined = table.combine_chunks()
    return [DocumentRow(combined, position, meaning) for position in range(combined.num_rows)]
