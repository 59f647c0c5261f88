"""Prepared data sets: labels and tokens without the text, small enough to be carried to a machine that only computes.

Such a folder looks like any data folder, but its documents hold a placeholder for each word, and `prepared.json` names
the documents that it was made from: results on it are results on those.
"""

import hashlib
import json
from pathlib import Path

from longmatch.errors import LongmatchError

ORIGIN = "prepared.json"


def documents_digest(file: Path) -> str:
    """The sha256 of a documents file; of a prepared one, that of the file it was made from."""
    if file.with_name(ORIGIN).is_file():
        return str(json.loads(file.with_name(ORIGIN).read_text(encoding="utf-8"))["documents"])
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def require_text(file: Path) -> None:
    """Raise an error if the documents were prepared: their text is not there."""
    if file.with_name(ORIGIN).is_file():
        raise LongmatchError(
            f"{file.parent} holds tokens without text, and not those needed here. "
            "Name models that read tokens, and prepare the set again if the code or the tokenizer has changed."
        )
