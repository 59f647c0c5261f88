"""The words of tokenised sentences, where there is no text: a run of pieces is a word, and so are two characters."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from longmatch.lab.words.text_words import function_words, is_character
from longmatch.lexical.terms import Hashes, Stream
from longmatch.units.tokens import Ints, Tokens

PIECE, CHARACTER = 1, 2  # kinds of tokens; 0 is no word: punctuation and special tokens
_MARKS = "▁Ġ#"  # what vocabularies write before a token
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class TokenWords:
    """What the tokens of one tokenizer are to words; made once, it cuts the sentences of any document."""

    kinds: npt.NDArray[np.int8]  # (vocabulary,)
    left_out: Hashes  # function words

    @staticmethod
    def of(tokenizer: Tokenizer, language: str = "en", common: bool = False) -> "TokenWords":
        """For a backbone's tokenizer; function words of the language are left out unless `common` keeps them."""
        vocabulary = tokenizer.get_vocab()
        kinds = np.zeros(max(vocabulary.values(), default=0) + 1, dtype=np.int8)
        for token, number in vocabulary.items():
            written = token.strip(_MARKS)
            if any(map(str.isalnum, written)):
                kinds[number] = CHARACTER if is_character(written) else PIECE
        kinds[[number for number in tokenizer.get_added_tokens_decoder() if number < len(kinds)]] = 0
        words = [] if common else sorted(function_words(language))
        return TokenWords(kinds, np.unique(word_hashes(tokenizer, [*words, *(f" {word}" for word in words)])))

    def words(self, tokens: Tokens) -> Stream:
        """The words of each sentence, as hashes that hold for this tokenizer alone."""
        ids, count = tokens.ids, len(tokens.sentence_offsets) - 1
        kinds = self.kinds[ids]
        sentence = np.repeat(np.arange(count), np.diff(tokens.sentence_offsets))
        goes_on = np.zeros(len(ids) + 1, dtype=bool)  # is a token in one run with the one before it?
        goes_on[1:-1] = (kinds[1:] == kinds[:-1]) & (sentence[1:] == sentence[:-1]) & ~tokens.word_starts[1:]
        firsts = np.flatnonzero(~goes_on[:-1])
        # A run of pieces is one word; a run of characters as many as it has neighbours, or one where it stands alone.
        place = np.arange(len(ids)) - np.repeat(firsts, np.diff(np.append(firsts, len(ids))))
        runs = np.add.reduceat(_mixed(ids, place), firsts) if len(ids) else np.empty(0, np.uint64)
        whole = (kinds[firsts] == PIECE) & ~np.isin(runs, self.left_out) | (
            (kinds[firsts] == CHARACTER) & ~goes_on[firsts + 1]
        )
        pairs = np.flatnonzero(goes_on[:-1] & (kinds == CHARACTER))
        found = np.concatenate([runs[whole], _mixed(ids[pairs - 1], np.zeros(1)) + _mixed(ids[pairs], np.ones(1))])
        home = np.concatenate([sentence[firsts[whole]], sentence[pairs]])
        offsets = np.concatenate([[0], np.bincount(home, minlength=count).cumsum()])
        return Stream(found[np.argsort(home, kind="stable")], offsets.astype(np.int64))


def word_hashes(tokenizer: Tokenizer, words: Sequence[str]) -> Hashes:
    """What words are known by, where they are cut in a text as they are alone."""
    forms = tokenizer.encode_batch(list(words), add_special_tokens=False)
    ids = [np.array(form.ids, dtype=np.int64)[np.array(form.attention_mask) > 0] for form in forms]  # without padding
    return np.array([_mixed(each, np.arange(len(each))).sum() for each in ids], dtype=np.uint64)


def _mixed(ids: Ints, place: npt.NDArray[np.generic]) -> Hashes:
    """Tokens at their places in a word, as numbers whose sum tells words apart."""
    mixed: Hashes = (ids.astype(np.uint64) * np.uint64(64) + place.astype(np.uint64) + np.uint64(1)) * _MIX
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIX
    return mixed ^ (mixed >> np.uint64(32))
