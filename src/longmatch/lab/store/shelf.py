"""The tokens of many documents, made once and memory-mapped.

facts.json       what it was made from and how much it holds
documents.json   ids, titles and labels, in order
documents.npy    (documents + 1, 2) where each document's tokens and sentences begin, and the ends
tokens.npy       (tokens,) token ids
words.npy        (tokens,) does a word begin here?
sentences.npy    (sentences, 3) tokens, running paragraph, section
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from tokenizers import Tokenizer

from longmatch.documents.document import Document
from longmatch.errors import LongmatchError, ReadError
from longmatch.units.tokens import Ints, Tokens

Progress = Callable[[int], None]  # told how many documents are done since the last call
T = TypeVar("T")

VERSION = 1
"""Of how documents are read, cut into sentences and tokenised. A change there raises it, and shelves are made anew."""


@dataclass(frozen=True)
class Unread:
    """A document nothing can be read from, and why."""

    id: str
    why: str


def as_it_is(document: Document) -> Document:
    """For a shelf that is made from documents themselves."""
    return document


class TokenShelf:
    """The tokens of many documents in a folder: a document is read when asked for, and nothing else with it.

    It goes to other processes as the folder's name.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        try:
            self.facts: dict[str, Any] = self._json("facts.json")
            names = self._json("documents.json")
            self._offsets: Ints = np.load(self.folder / "documents.npy")
            self._tokens, self._words, self._sentences = (
                np.load(self.folder / f"{name}.npy", mmap_mode="r") for name in ("tokens", "words", "sentences")
            )
        except (OSError, ValueError) as error:
            raise ReadError(
                self.folder, "is not a whole shelf of tokens", "Remove it: it will be made again."
            ) from error
        self.ids: tuple[str, ...] = tuple(names["ids"])
        self.titles: tuple[str, ...] = tuple(names["titles"])
        self.labels: tuple[str | None, ...] = tuple(names["labels"])  # the key `label` of a JSON line
        self.unread = {id: Unread(id, why) for id, why in names["unread"].items()}

    @classmethod
    def open(cls, folder: Path) -> "TokenShelf":
        """What `build` made."""
        return cls(folder)

    @classmethod
    def build(
        cls,
        folder: Path,
        documents: Iterable[T],
        tokenizer: Tokenizer,
        progress: Progress | None = None,
        processes: int = 1,
        *,
        read: Callable[[T], Document | Unread] = as_it_is,  # type: ignore[assignment]
        source: str = "",
    ) -> "TokenShelf":
        """Tokenise documents into a folder, in steps of bounded memory, unless they are there already.

        `source` is a digest of what the documents come from; the folder is left as it is where it was made from the
        same with the same tokenizer. Without one it is made anew. Where reading is what takes long, `documents` are
        light descriptions and `read`, a function of a module, makes the document from one in the other processes. The
        result is the same whatever their number. The folder appears when it is complete.
        """
        from longmatch.lab.store.shelving import Plan, write_shelf

        plan = Plan(tokenizer_json(tokenizer), source)
        if not (source and cls._holds(folder, plan.facts)):
            write_shelf(
                Path(folder), plan, documents, read, progress, processes, lambda: cls._holds(folder, plan.facts)
            )
        return cls(folder)

    @classmethod
    def _holds(cls, folder: Path, facts: dict[str, Any]) -> bool:
        try:
            found = cls(folder).facts
        except LongmatchError:
            return False
        return all(found.get(key) == value for key, value in facts.items())

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, number: int) -> Tokens:
        """The tokens of one document; of its text there is nothing, of its characters no spans."""
        if not 0 <= number < len(self):
            raise IndexError(number)
        (first, opening), (last, closing) = self._offsets[number : number + 2].tolist()
        sentences = np.array(self._sentences[opening:closing], dtype=np.int64)  # (sentences, 3)
        none = np.zeros(0, dtype=np.int64)
        return Tokens(
            document=Document(self.ids[number], self.titles[number], "", ()),
            ids=np.array(self._tokens[first:last], dtype=np.int64),
            starts=none,
            word_starts=np.array(self._words[first:last]),
            sentence_offsets=np.concatenate([[0], sentences[:, 0].cumsum()]),
            sentence_ends=none,
            sentence_paragraph=sentences[:, 1],
            sentence_section=sentences[:, 2],
        )

    def piece(self, number: int, first: int, last: int) -> Ints:
        """The tokens first:last of one document, without reading the others."""
        start, end = self._offsets[number : number + 2, 0].tolist()
        return np.array(self._tokens[start + first : min(start + last, end)], dtype=np.int64)

    def __iter__(self) -> Iterator[Tokens]:
        return (self[number] for number in range(len(self)))

    def __reduce__(self) -> tuple[type["TokenShelf"], tuple[Path]]:
        return type(self), (self.folder,)

    @cached_property
    def lengths(self) -> Ints:
        """Tokens of each document."""
        return np.diff(self._offsets[:, 0])

    @cached_property
    def sentence_counts(self) -> Ints:
        """Sentences of each document."""
        return np.diff(self._offsets[:, 1])

    def number(self, id: str) -> int:
        """The document's place on the shelf."""
        return self._numbers[id]

    def __contains__(self, id: object) -> bool:
        return id in self._numbers

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {id: number for number, id in enumerate(self.ids)}

    def _json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))


def tokenizer_json(tokenizer: Tokenizer) -> str:
    """The tokenizer as text, set to cut nothing off and to pad nothing."""
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    text: str = copy.to_str()
    return text
