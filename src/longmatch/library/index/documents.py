"""Documents of the store as columns of a segment."""

from collections.abc import Mapping, Sequence

import numpy as np

from longmatch.lexical.background import TermBackground
from longmatch.lexical.mentions import stack_titles, title_terms
from longmatch.lexical.terms import KINDS, Kind, words_in
from longmatch.library.index.segment import TITLE_WORDS, Array, frequency_columns, held_columns
from longmatch.library.index.terms import Occurrences
from longmatch.library.rows import DocumentRow


def document_columns(
    rows: Sequence[DocumentRow], background: TermBackground
) -> tuple[dict[str, Array], Mapping[Kind, Occurrences]]:
    """All columns but norms and postings, which depend on the other documents of the index; and the terms held."""
    terms = [row.terms() for row in rows]
    held = {kind: Occurrences.of([t.of(kind).counts for t in terms]) for kind in KINDS}
    titles = [str(row.value("title")) for row in rows]
    means = np.stack([row.array("mean") for row in rows])  # (documents, width)
    title_vectors = np.zeros(means.shape, dtype=np.float16)  # zeros in libraries that lack the column
    for vector, row in zip(title_vectors, rows, strict=True):
        if (known := row.title_vector()) is not None:
            vector[:] = known
    columns = {
        "means": means,
        "title_vectors": title_vectors,
        "titles": stack_titles([title_terms(title) for title in titles]),
        "languages": np.array([language_number(str(row.value("language"))) for row in rows]),
        **held_columns(TITLE_WORDS, Occurrences.of([words_in(title) for title in titles])),
    }
    # running words of each document: all, those of a language that the background knows, and those it has
    words, (distinct, position) = held["words"], held["words"].distinct
    counted = (np.ones(len(distinct), bool), background.familiar(distinct), background.known(distinct))
    for name, flags in zip(("lengths", "familiar", "known"), counted, strict=True):
        columns[name] = np.bincount(words.document, words.count * flags[position], words.documents)
    for kind in KINDS:
        columns |= frequency_columns(kind, held[kind], background.frequencies(kind)) | held_columns(kind, held[kind])
    return columns, held


def language_number(code: str) -> int:
    """A two-letter code as a number.

    >>> language_code(language_number("zh"))
    'zh'
    """
    return int.from_bytes(code.encode()[:2])


def language_code(number: int) -> str:
    """The code that a number was made from."""
    return number.to_bytes(2).decode().lstrip("\0")
