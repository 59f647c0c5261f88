"""What other processes import to read a shelf's documents from light descriptions."""

import os
import signal
import sys
from multiprocessing import parent_process
from pathlib import Path

from tokenizers import Tokenizer

from longmatch.documents import Document, Draft
from longmatch.lab.store.shelf import TokenShelf, Unread


def essay(number: int) -> Document:
    """A small document, another one for each number."""
    draft = Draft(metadata={"label": f"kind {number % 3}"} if number % 2 else {})
    for section in range(1 + number % 3):
        draft.heading(f"Part {section}")
        draft.paragraph(f"The bridge of essay {number} is old. " * (1 + number % 5) + "Counter-revolutionary words.")
        draft.paragraph("It rained! Nobody left the house.")
    return draft.document(f"essay-{number}", f"Essay {number}")


def essay_or_nothing(number: int) -> Document | Unread:
    return Unread(f"essay-{number}", "it is blank") if number == 7 else essay(number)


def essay_killed_on_the_way(number: int) -> Document:
    """Kills the process that builds, as a user would, when some documents have been written."""
    if number == 30:
        builder = parent_process()
        os.kill(builder.pid if builder is not None and builder.pid else os.getpid(), signal.SIGKILL)
    return essay(number)


if __name__ == "__main__":  # FOLDER TOKENIZER PROCESSES: build until killed
    folder, tokenizer, processes = sys.argv[1:]
    TokenShelf.build(
        Path(folder),
        range(40),
        Tokenizer.from_file(tokenizer),
        processes=int(processes),
        read=essay_killed_on_the_way,
        source="essays",
    )
