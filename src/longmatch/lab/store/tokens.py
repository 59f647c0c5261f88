"""The tokens of a collection: one layer for all that read tokens, and a view of it for training."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from longmatch.documents.document import Document
from longmatch.lab.store.digests import code_digest
from longmatch.lab.store.documents import READING_CODE, DocumentSource, RecordLayer, Records
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.layer import Arrays, DocumentLayer, Unhandled, Unreadable
from longmatch.lab.store.store import LayerStore
from longmatch.matching.matcher import Progress
from longmatch.units.tokens import Ints, Tokens, tokenize

NO_SENTENCE = "it has no sentence"
NONE: Ints = np.zeros(0, dtype=np.int64)


class TokenLayer(DocumentLayer):
    """The tokens of each document and where its sentences lie; nothing of the text itself."""

    name = "tokens"
    shapes: Mapping[str, Any] = {
        "ids": (np.int32, ()),
        "starts": (np.int32, ()),
        "word_starts": (np.bool_, ()),
        "sentences": (np.int32, (4,)),  # tokens, last character + 1, paragraph, section
    }

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._json = tokenizer_json(tokenizer)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """It cuts nothing off and pads nothing."""
        return Tokenizer.from_str(self._json)

    def __getstate__(self) -> dict[str, str]:
        return {"_json": self._json}

    @cached_property
    def facts(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The tokenizer, and the code that finds sentences."""
        digest = sha256(self._json.encode()).hexdigest()[:16]
        return {"tokenizer": digest, "code": code_digest(*READING_CODE, "units/tokens.py")}

    def make_one(self, document: Document, below: Arrays) -> Arrays:
        """Tokenise a document."""
        tokens = tokenize(document, self.tokenizer)
        if not len(tokens):
            raise Unhandled(NO_SENTENCE)
        lengths = np.diff(tokens.sentence_offsets)
        table = (lengths, tokens.sentence_ends, tokens.sentence_paragraph, tokens.sentence_section)
        arrays = {"ids": tokens.ids, "starts": tokens.starts, "word_starts": tokens.word_starts}
        arrays["sentences"] = np.stack(table, axis=1)
        return {name: arrays[name].astype(kind) for name, (kind, _) in self.shapes.items()}


def restore_tokens(arrays: Arrays, document: Document) -> Tokens:
    """The tokens of a document as `tokenize` gives them."""
    of_tokens = (arrays["ids"].astype(np.int64), arrays["starts"].astype(np.int64), arrays["word_starts"])
    lengths, *places = arrays["sentences"].astype(np.int64).T
    return Tokens(document, *of_tokens, np.concatenate([[0], lengths.cumsum()]), *places)


def tokenizer_json(tokenizer: Tokenizer) -> str:
    """The tokenizer as text, set to cut nothing off and to pad nothing."""
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    text: str = copy.to_str()
    return text


class TokenCollection:
    """The tokens of the readable documents of a collection, by number; a document is read when it is asked for.

    Pickled, it is the name of its folders.
    """

    def __init__(self, tokens: StoredLayer, records: StoredLayer) -> None:
        self._stored, self._records = tokens, records
        documents = Records.unpack(records.mapped("records"))
        failed = {n: why for n, why in tokens.unhandled.items() if why != NO_SENTENCE}
        self.unreadable = {documents.ids[n]: Unreadable(documents.ids[n], why) for n, why in failed.items()}
        self.rows: Ints = np.delete(np.arange(len(documents.ids)), list(failed))  # the documents' numbers in the store
        readable = documents.at(self.rows.tolist()) if failed else documents
        self.ids, self.titles, self.labels = readable.ids, readable.titles, readable.labels
        self._ids, self._word_starts, self._sentences = map(tokens.mapped, ("ids", "word_starts", "sentences"))
        bounds = np.stack([tokens.bounds("ids"), tokens.bounds("sentences")], axis=1)
        self._bounds: Ints = np.concatenate([bounds[self.rows], bounds[self.rows + 1]], axis=1)  # starts, ends

    @classmethod
    def build(
        cls,
        parent: Path,
        source: DocumentSource[Any],
        tokenizer: Tokenizer,
        progress: Progress | None = None,
        processes: int | None = None,
    ) -> "TokenCollection":
        """Tokenise a collection into a folder of `parent`, unless it is there already.

        The result is the same whatever the number of processes.
        """
        store = LayerStore.of(parent, source, processes)
        return cls(*store.build([TokenLayer(tokenizer), RecordLayer()], progress))

    @property
    def store(self) -> LayerStore:
        """The store it lies in, from which more can be derived."""
        return LayerStore(self._stored.folder.parent)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, number: int) -> Tokens:
        """The tokens of one document, without its text and without character positions."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        first, opening, last, closing = self._bounds[number].tolist()
        sentences = self._sentences[opening:closing].astype(np.int64)  # (sentences, 4)
        return Tokens(
            document=Document(self.ids[number], self.titles[number], "", ()),
            ids=self._ids[first:last].astype(np.int64),
            starts=NONE,
            word_starts=self._word_starts[first:last].copy(),
            sentence_offsets=np.concatenate([[0], sentences[:, 0].cumsum()]),
            sentence_ends=NONE,
            sentence_paragraph=sentences[:, 2],
            sentence_section=sentences[:, 3],
        )

    def piece(self, number: int, first: int, last: int) -> Ints:
        """The tokens first:last of one document, without reading the others."""
        start, _, end, _ = self._bounds[number].tolist()
        return self._ids[start + first : min(start + last, end)].astype(np.int64)

    def __iter__(self) -> Iterator[Tokens]:
        return (self[number] for number in range(len(self)))

    def __reduce__(self) -> tuple[type["TokenCollection"], tuple[StoredLayer, StoredLayer]]:
        return type(self), (self._stored, self._records)

    @cached_property
    def lengths(self) -> Ints:
        """Tokens of each document."""
        return self._bounds[:, 2] - self._bounds[:, 0]

    @cached_property
    def sentence_counts(self) -> Ints:
        """Sentences of each document."""
        return self._bounds[:, 3] - self._bounds[:, 1]

    def number(self, id: str) -> int:
        """The number of the document with this id."""
        return self._numbers[id]

    def __contains__(self, id: object) -> bool:
        return id in self._numbers

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {id: number for number, id in enumerate(self.ids)}
