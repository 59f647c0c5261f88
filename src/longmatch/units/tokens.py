"""The tokens of a document, with the position of each in its text."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from longmatch.documents.document import Document

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tokens:
    """All tokens of a document's running text in one flat array, sentence by sentence, without special tokens."""

    document: Document
    ids: Ints  # (tokens,)
    starts: Ints  # (tokens,) first character of each token in the document's text
    word_starts: npt.NDArray[np.bool_]  # (tokens,) whether a gap precedes the token
    sentence_offsets: Ints  # (sentences + 1,) sentence s has the tokens offsets[s]:offsets[s + 1]
    sentence_ends: Ints  # (sentences,) end of each sentence in the document's text, exclusive
    sentence_paragraph: Ints  # (sentences,) index of its running paragraph
    sentence_section: Ints  # (sentences,) index of its section

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def last_word_start(self) -> Ints:
        """The first token of the word that each token belongs to, -1 before the first word: (tokens,)."""
        return np.maximum.accumulate(np.where(self.word_starts, np.arange(len(self)), -1))

    def truncated(self, count: int | None) -> "Tokens":
        """The first `count` tokens, all if None; the last sentence may become shorter."""
        if count is None or len(self) <= count:
            return self
        kept = int(np.searchsorted(self.sentence_offsets, count))  # sentences that begin before `count`
        return replace(
            self,
            ids=self.ids[:count],
            starts=self.starts[:count],
            word_starts=self.word_starts[:count],
            sentence_offsets=np.append(self.sentence_offsets[:kept], count),
            sentence_ends=self.sentence_ends[:kept],
            sentence_paragraph=self.sentence_paragraph[:kept],
            sentence_section=self.sentence_section[:kept],
        )


def tokenize(document: Document, tokenizer: Tokenizer) -> Tokens:
    """Tokenise every sentence of the running text; one without tokens becomes a single unknown token."""
    spans = [(s.start, s.end, paragraph, section) for s, paragraph, section in document.indexed_sentences()]
    text = document.readable
    encodings = tokenizer.encode_batch([text[start:end] for start, end, _, _ in spans], add_special_tokens=False)
    unknown_ids = (tokenizer.token_to_id(name) for name in ("[UNK]", "<unk>", "<|unk|>"))
    unknown = next((id for id in unknown_ids if id is not None), 0)
    lengths = np.array([max(1, len(e.ids)) for e in encodings], dtype=np.int64)
    ids = np.fromiter(chain.from_iterable(e.ids or [unknown] for e in encodings), np.int64, lengths.sum())
    pairs = np.array(list(chain.from_iterable(e.offsets or [(0, 1)] for e in encodings)), dtype=np.int64).reshape(-1, 2)
    table = np.array(spans, dtype=np.int64).reshape(-1, 4)
    pairs += np.repeat(table[:, 0], lengths)[:, None]
    word_starts = np.ones(len(ids), dtype=bool)
    word_starts[1:] = pairs[1:, 0] > pairs[:-1, 1]
    offsets = np.concatenate([[0], lengths.cumsum()])
    word_starts[offsets[:-1]] = True
    return Tokens(document, ids, pairs[:, 0], word_starts, offsets, table[:, 1], table[:, 2], table[:, 3])
