"""The words of sentences, and how alike shared words make them (SST section 3.2, equation 1; appendix B.1).

From text, English words are reduced to the singular (as the paper's lemmatiser does without parts of speech), and stop
words are left out; in Chinese and Japanese, which are written without spaces, character bigrams are words. From tokens
the same, as far as possible: runs of word pieces, and character bigrams. Matrices of words are sparse: most pairs of
sentences share no word.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache
from scipy.sparse import csr_array
from tokenizers import Tokenizer

from longmatch.documents.document import Document
from longmatch.documents.language import words_of
from longmatch.lexical.terms import Hashes, Stream, hash_word, lookup
from longmatch.units.tokens import Ints, Tokens

_SINGULARS = (  # ending, exceptions, replacement; the first match applies
    ("ies", ("aies", "eies"), "y"),
    ("es", ("aes", "ees", "oes"), "e"),
    ("s", ("ss", "us"), ""),
)
PIECE, CHARACTER = 1, 2  # kinds of tokens; 0: punctuation and special tokens
_MARKS = "▁Ġ#"  # prefixes of tokens in vocabularies
_MIX = np.uint64(0x9E3779B97F4A7C15)
Floats = npt.NDArray[np.float64]
CACHE_SIZE = 1024  # documents


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
def function_words() -> frozenset[str]:
    """The stop words of English; other languages have none here."""
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
    left_out = frozenset[str]() if common or language != "en" else function_words()
    for characters, group in groupby(words_of(text), key=is_character):
        run = list(group)
        if characters:
            yield from ((pair, pair) for pair in (map("".join, pairwise(run)) if len(run) > 1 else run))
        elif language != "en":
            yield from zip(run, run, strict=True)
        else:
            stripped = (word.removesuffix("'s").removesuffix("’s") for word in run)
            yield from ((singular(word), word) for word in stripped if word not in left_out)


def document_words(document: Document, sentences: int | None = None) -> Stream:
    """The words of a document's sentences, or of its first `sentences` ones."""
    spans = list(document.sentences)[:sentences]
    text = document.readable
    return stream_of([hash_word(w) for w, _ in written_words(s.of(text), document.language)] for s in spans)


def stream_of(sentences: Iterable[list[int]]) -> Stream:
    """A flat stream of word ids, from one list per sentence."""
    lists = list(sentences)
    offsets = np.concatenate([[0], np.cumsum([len(words) for words in lists], dtype=np.int64)]).astype(np.int64)
    ids = np.fromiter((word for words in lists for word in words), np.uint64, int(offsets[-1]))
    return Stream(ids, offsets)


@dataclass(frozen=True)
class TokenWords:
    """Splits tokenised sentences into words, for one tokenizer."""

    kinds: npt.NDArray[np.int8]  # (vocabulary,)
    left_out: Hashes  # of function words

    @staticmethod
    def of(tokenizer: Tokenizer) -> "TokenWords":
        """Set up for a tokenizer; English function words are left out."""
        vocabulary = tokenizer.get_vocab()
        kinds = np.zeros(max(vocabulary.values(), default=0) + 1, dtype=np.int8)
        for token, number in vocabulary.items():
            text = token.strip(_MARKS)
            if any(map(str.isalnum, text)):
                kinds[number] = CHARACTER if is_character(text) else PIECE
        kinds[[number for number in tokenizer.get_added_tokens_decoder() if number < len(kinds)]] = 0
        words = sorted(function_words())
        return TokenWords(kinds, np.unique(word_hashes(tokenizer, [*words, *(f" {word}" for word in words)])))

    def words(self, tokens: Tokens) -> Stream:
        """The words of each sentence, as hashes specific to this tokenizer."""
        ids, count = tokens.ids, len(tokens.sentence_offsets) - 1
        kinds = self.kinds[ids]
        sentence = np.repeat(np.arange(count), np.diff(tokens.sentence_offsets))
        continues = np.zeros(len(ids) + 1, dtype=bool)  # whether a token continues the run of the one before it
        continues[1:-1] = (kinds[1:] == kinds[:-1]) & (sentence[1:] == sentence[:-1]) & ~tokens.word_starts[1:]
        firsts = np.flatnonzero(~continues[:-1])
        # A run of pieces is one word; a run of characters is one word per bigram, or one if it has a single character.
        place = np.arange(len(ids)) - np.repeat(firsts, np.diff(np.append(firsts, len(ids))))
        runs = np.add.reduceat(_mixed(ids, place), firsts) if len(ids) else np.empty(0, np.uint64)
        whole = (kinds[firsts] == PIECE) & ~np.isin(runs, self.left_out) | (
            (kinds[firsts] == CHARACTER) & ~continues[firsts + 1]
        )
        pairs = np.flatnonzero(continues[:-1] & (kinds == CHARACTER))
        words = np.concatenate([runs[whole], _mixed(ids[pairs - 1], np.zeros(1)) + _mixed(ids[pairs], np.ones(1))])
        home = np.concatenate([sentence[firsts[whole]], sentence[pairs]])
        offsets = np.concatenate([[0], np.bincount(home, minlength=count).cumsum()])
        return Stream(words[np.argsort(home, kind="stable")], offsets.astype(np.int64))


def word_hashes(tokenizer: Tokenizer, words: Sequence[str]) -> Hashes:
    """The hashes of words, provided they are tokenised in text as they are alone."""
    forms = tokenizer.encode_batch(list(words), add_special_tokens=False)
    ids = [np.array(form.ids, dtype=np.int64)[np.array(form.attention_mask) > 0] for form in forms]  # without padding
    return np.array([_mixed(word, np.arange(len(word))).sum() for word in ids], dtype=np.uint64)


def _mixed(ids: Ints, place: npt.NDArray[np.generic]) -> Hashes:
    """Hashes of tokens at their positions in a word; their sum is the hash of the word."""
    mixed: Hashes = (ids.astype(np.uint64) * np.uint64(64) + place.astype(np.uint64) + np.uint64(1)) * _MIX
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIX
    return mixed ^ (mixed >> np.uint64(32))


def textrank_similarity(words: Stream) -> Floats:
    """Equation 1, as in TextRank: distinct shared words over the sum of the logarithms of both lengths.

    A sentence of one word counts as two words long: its logarithm is 0, and the quotient of two such would be
    unbounded. Returns (sentences, sentences).

    >>> textrank_similarity(stream_of([[1, 2, 3, 4], [3, 4, 5, 6], [7]])).round(3)
    array([[1.443, 0.721, 0.   ],
           [0.721, 1.443, 0.   ],
           [0.   , 0.   , 0.721]])
    """
    matrix = WordMatrix.of(words)
    return np.asarray(matrix.shared(matrix).toarray())


def to_unit(similarity: Floats) -> Floats:
    """Scale similarities to [0, 1] by the roots of both diagonal entries, so that equal sentences have 1."""
    roots = np.sqrt(np.diag(similarity))
    scale = np.where(roots > 0, roots, 1.0)
    unit: Floats = similarity / scale[:, None] / scale
    np.fill_diagonal(unit, 1.0)
    return unit


@dataclass(frozen=True)
class WordMatrix:
    """The count of each of a document's words in each sentence."""

    words: Hashes  # distinct, sorted
    counts: csr_array  # (sentences, words)
    lengths: Ints  # (sentences,) in words

    @staticmethod
    def of(stream: Stream) -> "WordMatrix":
        """Count the words of a document."""
        words, column = np.unique(stream.ids, return_inverse=True)
        lengths = np.diff(stream.offsets)
        counts = csr_array((np.ones(len(column)), column, stream.offsets.copy()), shape=(len(lengths), len(words)))
        counts.sum_duplicates()  # changes the offsets in place
        return WordMatrix(words, counts, lengths)

    @property
    def distinct(self) -> Ints:
        """The number of distinct words in each sentence."""
        return np.asarray(np.diff(self.counts.indptr), dtype=np.int64)

    @cached_property
    def presence(self) -> csr_array:
        """1 where a sentence contains a word: (sentences, words)."""
        return csr_array((np.ones(self.counts.nnz), self.counts.indices, self.counts.indptr), shape=self.counts.shape)

    @cached_property
    def log_lengths(self) -> Floats:
        """Logarithms of the lengths; a single word counts as two, as in `textrank_similarity`."""
        return np.asarray(np.log(np.maximum(self.lengths, 2)))

    @cached_property
    def within(self) -> csr_array:
        """The similarity of the document's own sentences, 0 on the diagonal: (sentences, sentences)."""
        similarity = self.shared(self)
        rows = np.repeat(np.arange(similarity.shape[0]), np.diff(similarity.indptr))
        similarity.data[similarity.indices == rows] = 0.0
        return similarity

    def shared(self, other: "WordMatrix") -> csr_array:
        """SST's equation 1 for each sentence and each of the other document's: (sentences, the other's sentences)."""
        presence = other.presence  # (the other's sentences, words of this document)
        if other.words is not self.words:
            position, known = lookup(self.words, other.words)
            kept = known[other.counts.indices]
            offsets = np.concatenate([[0], kept.cumsum()])[other.counts.indptr]
            cells = np.ones(offsets[-1]), position[other.counts.indices[kept]], offsets
            presence = csr_array(cells, shape=(len(other.lengths), len(self.words)))
        similarity = self.presence @ presence.T
        rows = np.repeat(np.arange(similarity.shape[0]), np.diff(similarity.indptr))
        similarity.data /= self.log_lengths[rows] + other.log_lengths[similarity.indices]
        return similarity


class WordMatrixCache:
    """Builds the word matrices of documents and caches the most recently used."""

    def __init__(self, words: Callable[[Tokens], Stream], size: int = CACHE_SIZE) -> None:
        self.words = words
        self._recent: LRUCache[int, tuple[Tokens, WordMatrix]] = LRUCache(size)  # by id(), which the tokens keep alive

    def __call__(self, tokens: Tokens) -> WordMatrix:
        """The word matrix of a document; the cache goes by object identity."""
        if id(tokens) not in self._recent:
            self._recent[id(tokens)] = tokens, WordMatrix.of(self.words(tokens))
        return self._recent[id(tokens)][1]


def word_matrices(tokenizer: Any) -> WordMatrixCache:
    """The word matrices of documents tokenised by a model's tokenizer."""
    return WordMatrixCache(TokenWords.of(tokenizer.backend_tokenizer).words)
