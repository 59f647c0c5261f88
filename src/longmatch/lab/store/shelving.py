"""How a shelf of tokens is made: documents stream through processes into growing files, whole or not at all."""

import functools
import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
from filelock import FileLock
from numpy.lib import format as npy
from tokenizers import Tokenizer

from longmatch.documents.document import Document
from longmatch.errors import LongmatchError
from longmatch.lab.store.shelf import VERSION, Progress, Unread
from longmatch.parallel import parallel_map
from longmatch.units.tokens import tokenize

T = TypeVar("T")
Read = Callable[[T], Document | Unread]


@dataclass(frozen=True)
class Plan:
    """What a shelf is to be made from."""

    tokenizer: str  # as JSON
    source: str

    @property
    def facts(self) -> dict[str, Any]:
        """What makes two shelves the same."""
        digest = hashlib.sha256(self.tokenizer.encode()).hexdigest()[:16]
        return {"version": VERSION, "source": self.source, "tokenizer": digest}


@dataclass(frozen=True)
class Packed:
    """One document as it goes to disk."""

    id: str
    title: str
    label: str | None
    tokens: npt.NDArray[np.int32]
    words: npt.NDArray[np.bool_]
    sentences: npt.NDArray[np.int32]  # (sentences, 3)


def write_shelf(
    folder: Path,
    plan: Plan,
    documents: Iterable[T],
    read: Read[T],
    progress: Progress | None,
    processes: int,
    made: Callable[[], bool],
) -> None:
    """Make the folder, or wait for the process that is making it; `made` says whether what is there will do."""
    partial = folder.with_name(folder.name + ".partial")
    setup = functools.partial(_set_tokenizer, plan.tokenizer)
    packed = parallel_map(functools.partial(_read_and_pack, read), documents, processes, setup=setup)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(folder.name + ".lock")):
            if plan.source and made():
                return
            try:
                _remove(partial)  # left by a process that was killed
                partial.mkdir()
                _fill(partial, plan, packed, progress)
                _remove(folder)
                partial.rename(folder)
            finally:
                _remove(partial)
    except OSError as error:
        raise LongmatchError(
            f"{folder} cannot be written ({error.strerror or error}). Name a folder you may write to."
        ) from error


def _fill(folder: Path, plan: Plan, packed: Iterator[Packed | Unread], progress: Progress | None) -> None:
    ids: dict[str, None] = {}
    titles: list[str] = []
    labels: list[str | None] = []
    unread: dict[str, str] = {}
    with ExitStack() as stack:
        tokens = stack.enter_context(Growing(folder / "tokens.npy", np.int32))
        words = stack.enter_context(Growing(folder / "words.npy", np.bool_))
        sentences = stack.enter_context(Growing(folder / "sentences.npy", np.int32, 3))
        offsets = stack.enter_context(Growing(folder / "documents.npy", np.int64, 2))
        offsets.add(np.zeros((1, 2)))
        for one in packed:
            if one.id in ids or one.id in unread:
                raise LongmatchError(f"More than one document has the id {one.id!r}. Give each its own.")
            if isinstance(one, Unread):
                unread[one.id] = one.why
            else:
                ids[one.id] = None
                titles.append(one.title)
                labels.append(one.label)
                tokens.add(one.tokens)
                words.add(one.words)
                sentences.add(one.sentences)
                offsets.add(np.array([[tokens.rows, sentences.rows]]))
            if progress:
                progress(1)
    vocabulary = Tokenizer.from_str(plan.tokenizer).get_vocab_size()
    counts = {"documents": len(ids), "tokens": tokens.rows, "sentences": sentences.rows, "vocabulary": vocabulary}
    _write(folder / "documents.json", {"ids": list(ids), "titles": titles, "labels": labels, "unread": unread})
    _write(folder / "facts.json", plan.facts | counts)


class Growing:
    """A .npy file that rows are added to; its head is written again when their number is known."""

    def __init__(self, path: Path, kind: npt.DTypeLike, width: int | None = None) -> None:
        self.kind, self.width, self.rows = np.dtype(kind), width, 0
        self._file = path.open("wb")
        self._head()

    def add(self, rows: npt.NDArray[Any]) -> None:
        """Append (rows,) or (rows, width)."""
        self._file.write(np.ascontiguousarray(rows, dtype=self.kind).tobytes())
        self.rows += len(rows)

    def _head(self) -> None:
        """Of the same length whatever the number of rows: the format leaves room for it."""
        shape = (self.rows,) if self.width is None else (self.rows, self.width)
        facts = {"descr": npy.dtype_to_descr(self.kind), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(self._file, facts)  # type: ignore[arg-type]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.seek(0)
        self._head()
        self._file.close()


_tokenizer: Tokenizer | None = None  # of a process that reads documents


def _set_tokenizer(tokenizer: str) -> None:
    global _tokenizer  # noqa: PLW0603 - a process is given it once, not with each document
    _tokenizer = Tokenizer.from_str(tokenizer)


def _read_and_pack(read: Read[T], item: T) -> Packed | Unread:
    assert _tokenizer is not None
    return _pack(read(item), _tokenizer)


def _pack(document: Document | Unread, tokenizer: Tokenizer) -> Packed | Unread:
    if isinstance(document, Unread):
        return document
    found = tokenize(document, tokenizer)
    table = (np.diff(found.sentence_offsets), found.sentence_paragraph, found.sentence_section)
    label = document.metadata.get("label")
    return Packed(
        document.id,
        document.title,
        str(label) if isinstance(label, str | int) else None,
        found.ids.astype(np.int32),
        found.word_starts,
        np.stack(table, axis=1).astype(np.int32),
    )


def _write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
