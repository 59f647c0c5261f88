"""Letter trigrams of tokens: the letters come from the vocabulary, the words from where there are gaps.

A token's letters are its text in the vocabulary, in lower case, without the marks of its tokenizer (##, Ġ, ▁). Tokens
without a gap between them are one word, but anything that is neither letter nor digit ends a word too: "don't" is read
as don and t. A word is taken with its two ends, as in the paper: #good# has the trigrams #go, goo, ood, od#. So every
letter is the middle of one trigram, and no text is needed, only tokens.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.baselines.siamese.batch import Texts

END = 0  # beside the first and the last letter of a word
FACTOR, PRIME = 1_000_003, 2_147_483_647


def letters_of(tokenizer: Any) -> tuple[Tensor, Tensor]:
    """The letters of all tokens of a vocabulary, one after another, and where each token's begin, and the end."""
    special = set(tokenizer.all_special_ids)
    size = tokenizer.backend_tokenizer.get_vocab_size()
    texts = ["" if number in special else _plain(tokenizer, number) for number in range(size)]
    letters = [ord(letter) if letter.isalnum() else END for text in texts for letter in text]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    return torch.tensor(letters, dtype=torch.int32), torch.from_numpy(offsets.astype(np.int32))


def _plain(tokenizer: Any, number: int) -> str:
    token = tokenizer.convert_ids_to_tokens(number)
    return str(tokenizer.convert_tokens_to_string([token])).removeprefix("##").strip().lower()


def trigrams(texts: Texts, letters: Tensor, offsets: Tensor, buckets: int) -> tuple[Tensor, Tensor]:
    """The trigrams of documents, each as one of so many numbers, and the sentence each is in: (trigrams,) twice."""
    counts = offsets.diff()[texts.ids].long()
    token = torch.repeat_interleave(counts)  # of each letter
    within = torch.arange(len(token), device=token.device) - (counts.cumsum(0) - counts)[token]
    middle = letters[offsets[texts.ids][token] + within].long()
    word = texts.word_starts.cumsum(0)[token]
    joined = (word[1:] == word[:-1]).long()
    none = middle.new_zeros(1)
    before = torch.cat([none, middle[:-1] * joined])[: len(middle)]
    after = torch.cat([middle[1:] * joined, none])[: len(middle)]
    number = ((before * FACTOR + middle) * FACTOR + after) % PRIME % buckets
    sentence = torch.repeat_interleave(texts.sentences.to(token.device))[token]
    real = middle != END
    return number[real], sentence[real]
