"""What the words of a sentence are (SST section 3.2, equation 1; appendix B.1).

From text: English words lose their plural ending (what the paper's lemmatiser, called without parts of speech, does)
and function words are left out; in Chinese and Japanese, which put no space between words, every two neighbouring
characters are a word. From tokens, where there is no text, the same as far as tokens allow.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, pairwise

import numpy as np

from longmatch.documents.document import Document
from longmatch.documents.language import words_of
from longmatch.lexical.terms import Stream, hash_word

_SINGULARS = (  # an ending, the endings it must not be part of, what takes its place; the first that fits holds
    ("ies", ("aies", "eies"), "y"),
    ("es", ("aes", "ees", "oes"), "e"),
    ("s", ("ss", "us"), ""),
)


def singular(word: str) -> str:
    """An English word without its plural ending (Harman's three rules).

    >>> [singular(word) for word in ("colonies", "trees", "houses", "glass", "was")]
    ['colony', 'tree', 'house', 'glass', 'was']
    """
    if len(word) > 3:
        for ending, unless, instead in _SINGULARS:
            if word.endswith(ending) and not word.endswith(unless):
                return word.removesuffix(ending) + instead
    return word


@cache
def function_words(language: str) -> frozenset[str]:
    """The words of a language that say nothing of a subject. Known for English; elsewhere none."""
    if language != "en":
        return frozenset()
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


def is_character(word: str) -> bool:
    """Is it a single Chinese or Japanese character, which alone is seldom a word?"""
    return len(word) == 1 and ord(word) >= 0x3040


def written_words(text: str, language: str = "en", common: bool = False) -> Iterator[tuple[str, str]]:
    """The words of a sentence: as they are counted, and as they are written. `common` keeps function words.

    Of an English word the 's at its end is no part.

    >>> [word for word, _ in written_words("The rivers of 本院认为 rise.")]
    ['river', '本院', '院认', '认为', 'rise']
    """
    left_out = frozenset[str]() if common else function_words(language)
    for characters, group in groupby(words_of(text), key=is_character):
        run = list(group)
        if characters:
            yield from ((pair, pair) for pair in (map("".join, pairwise(run)) if len(run) > 1 else run))
        else:
            found = ((word.removesuffix("'s").removesuffix("’s") if language == "en" else word) for word in run)
            kept = (word for word in found if word not in left_out)
            yield from ((singular(word) if language == "en" else word, word) for word in kept)


def document_words(document: Document, sentences: int | None = None, common: bool = False) -> Stream:
    """The words of a document's sentences, of all or of the first few."""
    spans = list(document.sentences)[:sentences]
    text = document.readable
    return stream_of([hash_word(w) for w, _ in written_words(s.of(text), document.language, common)] for s in spans)


def stream_of(sentences: Iterable[list[int]]) -> Stream:
    """Numbers of words, sentence by sentence, laid out flat."""
    lists = list(sentences)
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in lists], dtype=np.int64)]).astype(np.int64)
    ids = np.fromiter((word for words in lists for word in words), np.uint64, int(offsets[-1]))
    return Stream(ids, offsets)


def joined(a: Stream, b: Stream) -> Stream:
    """The sentences of both documents, a's first: the set S of section 3.2."""
    return Stream(np.concatenate([a.ids, b.ids]), np.concatenate([a.offsets, a.offsets[-1] + b.offsets[1:]]))
