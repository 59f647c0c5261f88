"""Rank documents for a text that is in no file."""

import os
from collections.abc import Sequence

from longmatch.documents.document import Document
from longmatch.documents.read import read_text_string
from longmatch.errors import LongmatchError
from longmatch.library.library import Library
from longmatch.library.store import locate_library
from longmatch.matching.hits import Hits
from longmatch.models.loading import load


def rank_text(
    text: str, documents: Library | str | os.PathLike[str] | Sequence[Document], k: int = 10, where: str | None = None
) -> Hits:
    """The k documents that belong most with a text, best first.

    `documents` is a library, the folder of one, or documents in memory. `where` is a condition on a library's
    documents, as in `Library.rank`.
    """
    query = read_text_string(text)
    if isinstance(documents, str | os.PathLike):
        documents = Library(locate_library(os.fspath(documents)), create=False)
    if isinstance(documents, Library):
        return documents.rank(query, k, where)
    if where:
        raise LongmatchError("A condition (where) needs a library. Select documents in memory beforehand.")
    return load().rank(query, documents, k)
