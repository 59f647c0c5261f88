"""An encoded document as a row of the store, and back."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch

from longmatch.default.encoding import Encoding
from longmatch.documents.document import Document, content_hash
from longmatch.lexical.mentions import title_terms
from longmatch.lexical.terms import Counts, Hashes, Stream, Terms, words_in
from longmatch.library.structure import PARAGRAPHS, SECTIONS, SENTENCES, sections_of, structure_of
from longmatch.library.vectors import COLUMN, Kind, pack, unpack
from longmatch.matching.chance import SIZES
from longmatch.matching.levels import SentenceVectors
from longmatch.matching.sentences import Sentences

PIECES = pa.list_(pa.struct([(name, pa.int32()) for name in ("start", "end", "tokens", "paragraph", "section")]))
"""What the model reads: sentences, long ones cut."""

STREAM = ("vocabulary", "stream", "offsets")
"""The columns that hold the running words."""

DOCUMENT = [
    "id",
    "source",
    "title",
    "language",
    "words",
    "metadata",
    "text",
    "plain",
    "sections",
    "paragraphs",
    "sentences",
]
"""The columns of a document."""

ENCODED = [*DOCUMENT, "pieces", "vectors", "expectations", "title_vector", "vocabulary", "stream", "offsets"]
"""The columns of a document and its encoding."""

SCORED = ["id", "title", "pieces", "vectors", "expectations", "mean", "title_vector", *STREAM]
"""The columns a score needs."""

MEANT = ["id", "vectors", "expectations"]
"""The columns that meaning needs."""

TERMS = ["id", "hash", "title", "mean", *STREAM]
"""The columns the index by words, phrases and document vectors is made from."""

DESCRIBED = ["id", "title", "language", "words", "source", "metadata"]
"""The columns that say what a document is."""


def schema_for(width: int, kind: Kind = "float16") -> pa.Schema:
    """The columns of the store, for vectors of so many numbers of that kind."""
    return pa.schema(
        [
            ("id", pa.string()),
            ("source", pa.string()),  # relative to the folder that holds the library, where it lies below it
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
            ("pieces", PIECES),
            ("vectors", pa.list_(COLUMN[kind])),  # of the pieces, flat
            ("expectations", pa.list_(pa.float16())),  # what chance gives each piece, flat
            ("mean", pa.list_(pa.float32(), width)),  # the document's vector
            ("title_vector", pa.list_(pa.float16())),  # zeros for no title; libraries made before have no such column
            ("vocabulary", pa.list_(pa.uint64())),  # distinct words, hashed, in rising order
            ("stream", pa.list_(pa.uint32())),  # the running words, as places in the vocabulary
            ("offsets", pa.list_(pa.uint32())),  # where each piece begins in the stream, and the end
        ]
    )


def to_table(encodings: Sequence[Encoding], kind: Kind = "float16") -> pa.Table:
    """Rows for the store, the sentence vectors in numbers of that kind."""
    documents = [e.document for e in encodings]
    structures = [structure_of(d) for d in documents]
    vocabularies, streams = zip(*(np.unique(e.terms.words.ids, return_inverse=True) for e in encodings), strict=True)
    means = np.stack([e.mean.numpy() for e in encodings])  # (documents, width)
    schema = schema_for(means.shape[1], kind)
    columns: dict[str, Any] = {
        "id": [d.id for d in documents],
        "source": [d.source for d in documents],
        "hash": [content_hash(d) for d in documents],
        "title": [d.title for d in documents],
        "language": [d.language for d in documents],
        "words": [d.words for d in documents],
        "metadata": [json.dumps(dict(d.metadata), ensure_ascii=False, default=str) for d in documents],
        "text": [d.text for d in documents],
        "plain": [d.plain for d in documents],
        **{name: [s[name] for s in structures] for name in ("sections", "paragraphs", "sentences")},
        "pieces": [_pieces(e.sentences) for e in encodings],
        "vectors": _lists([pack(e.sentence_vectors.vectors, kind) for e in encodings]),
        "expectations": _lists([e.sentence_vectors.expectations.half().numpy().ravel() for e in encodings]),
        "mean": pa.FixedSizeListArray.from_arrays(pa.array(means.ravel()), means.shape[1]),
        "title_vector": _lists([_title_vector(e, means.shape[1]) for e in encodings]),
        "vocabulary": _lists(vocabularies),
        "stream": _lists([s.astype(np.uint32) for s in streams]),
        "offsets": _lists([e.terms.words.offsets.astype(np.uint32) for e in encodings]),
    }
    arrays = [_array(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _title_vector(encoding: Encoding, width: int) -> npt.NDArray[Any]:
    title = torch.zeros(width) if encoding.title_vector is None else encoding.title_vector
    return np.asarray(title.half().numpy())


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, pa.array(values, kind.storage_type))
    return pa.array(values, kind)


def _lists(parts: Sequence[npt.NDArray[Any]]) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate(parts)))


def _pieces(sentences: Sentences) -> list[tuple[int, ...]]:
    table = (sentences.starts, sentences.ends, sentences.lengths, sentences.paragraph, sentences.section)
    return list(zip(*(column.tolist() for column in table), strict=True))


@dataclass(frozen=True)
class Row:
    """One row of the store, as a batch of columns with a place in it."""

    table: pa.Table  # its columns in one chunk each
    place: int

    def value(self, name: str) -> Any:
        """A plain value."""
        return self.table[name][self.place].as_py()

    def array(self, name: str) -> npt.NDArray[Any]:
        """A list of numbers."""
        return np.asarray(self.table[name].chunk(0)[self.place].values.to_numpy(zero_copy_only=False))

    @property
    def id(self) -> str:
        """The document's id."""
        return str(self.value("id"))

    def document(self) -> Document:
        """The document, with its structure."""
        names = ("sections", "paragraphs", "sentences")
        sections = sections_of({name: self.value(name) for name in names})
        metadata = json.loads(self.value("metadata") or "{}")
        texts = (self.value("title"), self.value("text"))
        return Document(self.id, *texts, sections, self.value("language"), self.value("source"), metadata, self.plain)

    @property
    def plain(self) -> str:
        """The text with its markup blanked, where there is markup."""
        return str(self.value("plain"))

    def terms(self) -> Terms:
        """The hashed words, sentence by sentence."""
        ids = self.array("vocabulary").astype(np.uint64, copy=False)[self.array("stream")]
        return Terms(Stream(ids, self.array("offsets").astype(np.int64)))

    def title(self) -> Counts:
        """The hashed words of the title."""
        return words_in(str(self.value("title")))

    def name(self) -> Hashes:
        """The hashed terms by which texts name the document."""
        return title_terms(str(self.value("title")))

    def sentence_vectors(self) -> SentenceVectors:
        """The sentence vectors with their expectations by chance."""
        expectations = torch.from_numpy(self.array("expectations").astype(np.float32)).reshape(-1, len(SIZES))
        return SentenceVectors(unpack(self.array("vectors"), len(expectations)), expectations)

    def title_vector(self) -> torch.Tensor | None:
        """The vector of the title, where it was kept."""
        if "title_vector" not in self.table.column_names:
            return None
        return torch.from_numpy(self.array("title_vector").astype(np.float32))

    def pieces(self) -> list[npt.NDArray[np.int64]]:
        """Start, end, tokens, paragraph and section of what the model reads."""
        kept = self.table["pieces"].chunk(0)[self.place].values
        return [kept.field(i).to_numpy().astype(np.int64) for i in range(5)]

    def encoding(self) -> Encoding:
        """The document as the matcher encoded it."""
        return Encoding(
            Sentences(self.document(), *self.pieces()), self.sentence_vectors(), self.terms(), self.title_vector()
        )


def rows_of(table: pa.Table) -> list[Row]:
    """The rows of a table."""
    whole = table.combine_chunks()
    return [Row(whole, place) for place in range(whole.num_rows)]
