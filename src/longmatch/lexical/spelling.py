"""From hashes back to the words as they are written."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

import numpy as np

from longmatch.documents.language import words_of
from longmatch.lexical.form import content_words, without_form
from longmatch.lexical.terms import PHRASE_LENGTHS, Stream, hash_word, phrases_of


def spell(wanted: Iterable[int], sentences: list[str]) -> dict[int, str]:
    """The words and phrases behind hashes, looked up in the sentences they stand in."""
    missing = {int(h) for h in wanted}
    found: dict[int, str] = {}
    for term, text in (reading for sentence in sentences for reading in _readings(sentence)):
        if term in missing:
            missing.discard(term)
            found[term] = text
            if not missing:
                break
    return found


def _readings(sentence: str) -> Iterator[tuple[int, str]]:
    """The words of a sentence, then its phrases: the default's terms, then the baselines' terms."""
    for split in (_content_words, words_of):
        words = split(sentence)
        yield from ((hash_word(word), word) for word in words)
        yield from _phrases(words)


@lru_cache(maxsize=1 << 10)  # a query's sentences are asked for with every hit
def _content_words(sentence: str) -> list[str]:
    return content_words(sentence)


def written(first: int, last: int, sentence: str) -> str:
    """The text from one term to another as it is written in a sentence; empty where they do not follow each other.

    >>> written(hash_word("alan"), hash_word("turing"), "It was Alan Turing who came.")
    'Alan Turing'
    >>> written(hash_word("alan"), hash_word("turing"), "It was Alan [12] Turing who came.")
    'Alan [12] Turing'
    """
    content = without_form(sentence)
    words = words_of(content)
    places = [(i, i) for i in range(len(words))]
    places += [(i, i + length - 1) for length in PHRASE_LENGTHS for i in range(max(0, len(words) - length + 1))]
    terms = [hash_word(word) for word in words] + [term for term, _ in _phrases(words)]
    starts, ends = (
        [p for p, term in zip(places, terms, strict=True) if term == end] for end in (int(first), int(last))
    )
    runs = [(end - begin, begin, end) for begin, _ in starts for at, end in ends if at >= begin]
    if not runs:
        return ""
    _, begin, end = min(runs)
    spans = list(_spans(words, content))
    return sentence[spans[begin][0] : spans[end][1]]


def _spans(words: list[str], text: str) -> Iterator[tuple[int, int]]:
    """Where the lower-case words of a text stand in it."""
    lowered, end = text.lower(), 0
    origins = [at for at, character in enumerate(text) for _ in character.lower()]  # İ becomes two characters
    for word in words:
        start = lowered.index(word, end)
        end = start + len(word)
        yield origins[start], origins[end - 1] + 1


def _phrases(words: list[str]) -> list[tuple[int, str]]:
    ids = np.array([hash_word(word) for word in words], dtype=np.uint64)
    stream = phrases_of(Stream(ids, np.array([0, len(ids)], dtype=np.int64)))
    glue = "" if words and all(len(w) == 1 and ord(w) > 0x2FFF for w in words) else " "
    runs = [
        glue.join(words[i : i + length]) for length in PHRASE_LENGTHS for i in range(max(0, len(words) - length + 1))
    ]
    return list(zip(stream.ids.tolist(), runs, strict=True))
