"""The words of sentences from text (SST section 3.2, equation 1; appendix B.1).

English words are reduced to the singular (as the paper's lemmatiser does without parts of speech), and stop words are
left out; in Chinese and Japanese, which are written without spaces, character bigrams are words. token_words.py does
the same as far as possible from tokens.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, pairwise

import numpy as np

from longmatch.documents.document import Document
from longmatch.documents.language import words_of
from longmatch.lexical.terms import Stream, hash_word

_SINGULARS = (  # ending, exceptions, replacement; the first match applies
    ("ies", ("aies", "eies"), "y"),
    ("es", ("aes", "ees", "oes"), "e"),
    ("s", ("ss", "us"), ""),
)


def singular(word: str) -> str:
    """Strip an English plural ending (Harman's three rules).

    >>> [singular(word) for word in ("colonies", "trees", "houses", "glass", "was")]
    ['colony', 'tree', 'house', 'glass', 'was']
    """
    if len(word) > 3:
        for ending, exceptions, replacement in _SINGULARS:
            if word.endswith(ending) and not word.endswith(exceptions):
                return word.removesuffix(ending) + replacement
    return word


@cache
def function_words(language: str) -> frozenset[str]:
    """The stop words of a language; empty except for English."""
    if language != "en":
        return frozenset()
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


def is_character(word: str) -> bool:
    """Whether a word is a single Chinese or Japanese character."""
    return len(word) == 1 and ord(word) >= 0x3040


def written_words(text: str, language: str = "en", common: bool = False) -> Iterator[tuple[str, str]]:
    """The words of a sentence, normalised and as written. `common` keeps function words.

    The possessive 's of English words is removed.

    >>> [word for word, _ in written_words("The rivers of 本院认为 rise.")]
    ['river', '本院', '院认', '认为', 'rise']
    """
    left_out = frozenset[str]() if common else function_words(language)
    for characters, group in groupby(words_of(text), key=is_character):
        run = list(group)
        if characters:
            yield from ((pair, pair) for pair in (map("".join, pairwise(run)) if len(run) > 1 else run))
        else:
            stripped = ((word.removesuffix("'s").removesuffix("’s") if language == "en" else word) for word in run)
            kept = (word for word in stripped if word not in left_out)
            yield from ((singular(word) if language == "en" else word, word) for word in kept)


def document_words(document: Document, sentences: int | None = None, common: bool = False) -> Stream:
    """The words of a document's sentences, or of its first `sentences` ones."""
    spans = list(document.sentences)[:sentences]
    text = document.readable
    return stream_of([hash_word(w) for w, _ in written_words(s.of(text), document.language, common)] for s in spans)


def stream_of(sentences: Iterable[list[int]]) -> Stream:
    """A flat stream of word ids, from one list per sentence."""
    lists = list(sentences)
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in lists], dtype=np.int64)]).astype(np.int64)
    ids = np.fromiter((word for words in lists for word in words), np.uint64, int(offsets[-1]))
    return Stream(ids, offsets)


def concatenated(a: Stream, b: Stream) -> Stream:
    """The sentences of both documents, those of a first: the set S of section 3.2."""
    return Stream(np.concatenate([a.ids, b.ids]), np.concatenate([a.offsets, a.offsets[-1] + b.offsets[1:]]))
