"""What a cluster is about: the words its documents use and others do not."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from longmatch.documents.document import Document
from longmatch.documents.language import COMMON_WORDS
from longmatch.lexical.form import content_words
from longmatch.lexical.frequencies import Blend, Frequencies
from longmatch.lexical.terms import Counts, hash_word

WORDS = 5
READ = 20_000  # characters of a document


def weightiest(clusters: Sequence[Sequence[Document]], background: Frequencies) -> list[list[str]]:
    """For each cluster, given by some of its documents, the words that tell it from the others, weightiest first."""
    counted = [[Counter(_content_words(document)) for document in documents] for documents in clusters]
    hashed = [_hashes(words) for documents in counted for words in documents]
    blend = Blend(Frequencies.of(hashed), background)
    everywhere: dict[str, float] = defaultdict(float)
    for documents in counted:
        for word, share in _shares(documents).items():
            everywhere[word] += share
    return [_best(documents, blend, everywhere) for documents in counted]


def _shares(documents: Sequence[Counter[str]]) -> dict[str, float]:
    """The mean share each word has of a cluster's documents."""
    found: dict[str, float] = {}
    for words in documents:
        for word, count in words.items():
            found[word] = found.get(word, 0.0) + count / words.total() / len(documents)
    return found


def _best(documents: Sequence[Counter[str]], blend: Blend, everywhere: Mapping[str, float]) -> list[str]:
    """Words that are frequent here, in many documents, rare in general, and rarer in the other clusters."""
    held = Counter(word for words in documents for word in words)
    least = 2 if len(documents) > 1 and any(count > 1 for count in held.values()) else 1
    words = sorted(word for word, count in held.items() if count >= least)
    if not words:
        return []
    mine = _shares(documents)
    shares = np.array([mine[word] * mine[word] / everywhere[word] * held[word] / len(documents) for word in words])
    weights = shares * blend.idf(np.array([hash_word(word) for word in words], dtype=np.uint64))
    chosen: list[str] = []
    for place in np.argsort(-weights, kind="stable"):
        word = words[int(place)]
        if len(chosen) < WORDS and not any(word.startswith(c) or c.startswith(word) for c in chosen):  # no plurals
            chosen.append(word)
    return chosen


def _content_words(document: Document) -> list[str]:
    words = content_words(document.readable[:READ])
    return [word for word in words if word.isalpha() and word not in COMMON_WORDS and _is_long_enough(word)]


def _is_long_enough(word: str) -> bool:
    """Two letters say nothing, two Chinese characters do."""
    return len(word) > 2 or ord(word[0]) > 0x2FFF


def _hashes(words: Counter[str]) -> Counts:
    return Counts.of(np.array([hash_word(word) for word in words], dtype=np.uint64))
