"""The words of tokenised sentences: runs of word pieces, and character bigrams."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from longmatch.lab.words.text_words import function_words, is_character
from longmatch.lexical.terms import Hashes, Stream
from longmatch.units.tokens import Ints, Tokens

PIECE, CHARACTER = 1, 2  # kinds of tokens; 0: punctuation and special tokens
_MARKS = "▁Ġ#"  # prefixes of tokens in vocabularies
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class TokenWords:
    """Splits tokenised sentences into words, for one tokenizer."""

    kinds: npt.NDArray[np.int8]  # (vocabulary,)
    left_out: Hashes  # of function words

    @staticmethod
    def of(tokenizer: Tokenizer, language: str = "en", common: bool = False) -> "TokenWords":
        """Set up for a tokenizer; function words of the language are left out unless `common`."""
        vocabulary = tokenizer.get_vocab()
        kinds = np.zeros(max(vocabulary.values(), default=0) + 1, dtype=np.int8)
        for token, number in vocabulary.items():
            text = token.strip(_MARKS)
            if any(map(str.isalnum, text)):
                kinds[number] = CHARACTER if is_character(text) else PIECE
        kinds[[number for number in tokenizer.get_added_tokens_decoder() if number < len(kinds)]] = 0
        words = [] if common else sorted(function_words(language))
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
