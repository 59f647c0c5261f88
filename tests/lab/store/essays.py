"""Documents for a store that other processes read from light descriptions."""

import os
import signal
import sys
from collections.abc import Callable, Iterable
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from longmatch.documents import Document, Draft
from longmatch.lab.store import store
from longmatch.lab.store.documents import DocumentSource
from longmatch.lab.store.layer import Unreadable
from longmatch.lab.store.tokens import TokenCollection


def essay(number: int) -> Document:
    """A small document, another one for each number."""
    draft = Draft(metadata={"label": f"kind {number % 3}"} if number % 2 else {})
    for section in range(1 + number % 3):
        draft.heading(f"Part {section}")
        draft.paragraph(f"The bridge of essay {number} is old. " * (1 + number % 5) + "Counter-revolutionary words.")
        draft.paragraph("It rained! Nobody left the house.")
    return draft.document(f"essay-{number}", f"Essay {number}")


def essay_or_nothing(number: int) -> Document | Unreadable:
    return Unreadable(f"essay-{number}", "it is blank") if number == 7 else essay(number)


def essay_killed_on_the_way(number: int) -> Document:
    """Kills the process that builds, as a user would, when some documents have been written."""
    if number == 30:
        builder = parent_process()
        os.kill(builder.pid if builder is not None and builder.pid else os.getpid(), signal.SIGKILL)
    return essay(number)


def as_it_is(document: Document) -> Document:
    return document


def source_of(
    items: Iterable[Any], read: Callable[[Any], Document | Unreadable] = as_it_is, fingerprint: str = "a"
) -> DocumentSource[Any]:
    return DocumentSource("essays", fingerprint, lambda: items, read)


def token_collection(folder: Path, documents: Iterable[Document], tokenizer: Tokenizer) -> TokenCollection:
    """The tokens of documents in memory."""
    return TokenCollection.build(folder, source_of(documents), tokenizer)


if __name__ == "__main__":  # FOLDER TOKENIZER PROCESSES: build until killed
    folder, tokenizer, processes = sys.argv[1:]
    store.CHARACTERS = 2000
    source = source_of(range(40), essay_killed_on_the_way)
    TokenCollection.build(Path(folder), source, Tokenizer.from_file(tokenizer), processes=int(processes))
