"""Documents of the store as columns of a segment."""

from collections.abc import Mapping, Sequence

import numpy as np

from longmatch.lexical.background import TermBackground
from longmatch.lexical.mentions import stack_titles
from longmatch.lexical.terms import KINDS, Kind
from longmatch.library.index.segment import TITLE_WORDS, Array, frequency_columns, held_columns
from longmatch.library.index.terms import Occurrences, occurrences
from longmatch.library.rows import DocumentRow


def document_columns(
    rows: Sequence[DocumentRow], background: TermBackground
) -> tuple[dict[str, Array], Mapping[Kind, Occurrences]]:
    """All columns but norms and postings, which depend on the other documents of the index; and the terms held."""
    held = occurrences([row.terms() for row in rows])
    titles = Occurrences.of([row.title_words() for row in rows])
    means = np.stack([row.array("mean") for row in rows])  # (documents, width)
    columns = {
        "means": means,
        "title_vectors": _title_vectors(rows, means.shape[1]),
        "titles": stack_titles([row.title_terms() for row in rows]),
        "languages": np.array([language_number(str(row.value("language"))) for row in rows]),
        **_lengths(held["words"], background),
        **held_columns(TITLE_WORDS, titles),
    }
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


def _lengths(words: Occurrences, background: TermBackground) -> dict[str, Array]:
    """The number of running words of each document: all, and those that the background text has."""
    terms, position = words.distinct
    counted = {"lengths": np.ones(len(terms), bool), "familiar": background.familiar(terms)}
    counted["known"] = background.known(terms)
    return {
        name: np.bincount(words.document, words.count * flags[position], words.documents)
        for name, flags in counted.items()
    }


def _title_vectors(rows: Sequence[DocumentRow], width: int) -> Array:
    """(documents, width); zeros in libraries that lack the column."""
    vectors = np.zeros((len(rows), width), dtype=np.float16)
    for vector, row in zip(vectors, rows, strict=True):
        if (known := row.title_vector()) is not None:
            vector[:] = known
    return vectors
