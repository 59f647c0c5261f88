"""Letter trigrams of tokenised text.

A token's letters are its text in the vocabulary, lower-cased, without the tokenizer's marks (##, Ġ, ▁). Adjacent tokens
without a gap form one word, but any character that is neither letter nor digit also ends a word: "don't" is read as don
and t. As in the paper, word boundaries count: #good# has the trigrams #go, goo, ood, od#. So every letter is the middle
of one trigram, and only the tokens are needed, not the text.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from longmatch.lab.baselines.siamese.batch import TextBatch

BOUNDARY = 0  # before the first and after the last letter of a word
FACTOR, PRIME = 1_000_003, 2_147_483_647


def token_letters(tokenizer: Any) -> tuple[Tensor, Tensor]:
    """The concatenated letters of all tokens of a vocabulary, and their offsets: (letters,), (vocabulary + 1,)."""
    special = set(tokenizer.all_special_ids)
    size = tokenizer.backend_tokenizer.get_vocab_size()
    texts = ["" if number in special else _plain(tokenizer, number) for number in range(size)]
    letters = [ord(letter) if letter.isalnum() else BOUNDARY for text in texts for letter in text]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
    return torch.tensor(letters, dtype=torch.int32), torch.from_numpy(offsets.astype(np.int32))


def _plain(tokenizer: Any, number: int) -> str:
    token = tokenizer.convert_ids_to_tokens(number)
    return str(tokenizer.convert_tokens_to_string([token])).removeprefix("##").strip().lower()


def trigrams(texts: TextBatch, letters: Tensor, offsets: Tensor, buckets: int) -> tuple[Tensor, Tensor]:
    """The trigrams of documents, hashed into `buckets`, and the sentence of each: (trigrams,) twice."""
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
    real = middle != BOUNDARY
    return number[real], sentence[real]
