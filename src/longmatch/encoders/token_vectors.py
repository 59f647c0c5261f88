"""Token vectors: a table of one vector a token. The vector of a text is the sum of its tokens', scaled to length 1.

The table is learnt from a transformer (`longmatch train token-vectors`), so that sums are near where it is near; a
token's length says how much it weighs. What costs a transformer ten million multiplications costs a look-up here.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_array
from tokenizers import Tokenizer

from longmatch.encoders.pretrained import TOKEN_VECTORS, checkpoint_errors
from longmatch.errors import LongmatchError
from longmatch.ragged import Ints, offsets_of, segment_sum, unit_rows

FOLDER = Path(__file__).parent / "data"
TABLE, TOKENIZER = "token_vectors.safetensors", "tokenizer.json"
LANGUAGES = frozenset({"en"})  # of the texts that the shipped table was learnt from
MOST_KNOWN = 1 << 18  # words whose tokens are remembered
MOST_TOKENS = 255  # of a word; what has more is no word, and they are counted in 8 bits
MOST_ROWS = 1 << 16  # of a table: tokens are stored in 16 bits
INT8_MAX = 127

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class WordTokens:
    """The tokens of words: those of word w are ids[offsets[w]:offsets[w + 1]]."""

    ids: npt.NDArray[np.uint16]
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1


class TokenVectors:
    """A table of token vectors, in int8 with a scale a row, and the tokenizer whose tokens they are."""

    runtime = "look-up"

    def __init__(
        self, table: npt.NDArray[np.int8], scales: Vectors, tokenizer: Tokenizer, name: str, languages: frozenset[str]
    ) -> None:
        self.table, self.scales, self.tokenizer, self.name = table, scales, tokenizer, name
        self.languages: frozenset[str] | None = languages
        self._known: dict[str, tuple[int, ...]] = {}

    @staticmethod
    def load(folder: Path | None = None) -> "TokenVectors":
        """From a folder that training wrote; the shipped ones by default."""
        return _shipped() if folder is None else _read(folder, str(folder))

    @staticmethod
    def of(vectors: Vectors, tokenizer: Tokenizer, name: str = TOKEN_VECTORS) -> "TokenVectors":
        """From a vector a token: (tokens, width)."""
        if len(vectors) > MOST_ROWS:
            raise LongmatchError(
                f"The tokenizer has {len(vectors):,} tokens, and token vectors are for at most {MOST_ROWS:,}. "
                "Choose a teacher with fewer."
            )
        scales = np.abs(vectors).max(axis=1, keepdims=True).clip(min=1e-12) / INT8_MAX
        return TokenVectors(np.rint(vectors / scales).astype(np.int8), scales[:, 0], tokenizer, name, LANGUAGES)

    def save(self, folder: Path) -> None:
        """Write table and tokenizer, for `load`."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file({"table": self.table, "scales": self.scales.astype(np.float32)}, folder / TABLE)
        self.tokenizer.save(str(folder / TOKENIZER), pretty=False)

    @property
    def width(self) -> int:
        """Dimensions of a vector."""
        return int(self.table.shape[1])

    @cached_property
    def identity(self) -> str:
        """Identifies the table."""
        return hashlib.sha256(self.table.tobytes() + self.scales.tobytes()).hexdigest()[:16]

    def split(self, words: Sequence[str]) -> WordTokens:
        """The tokens of words, as `lexical.form` spells them. Several threads may ask."""
        if len(self._known) > MOST_KNOWN:
            self._known = {}  # another thread keeps the one it has begun with
        known = self._known
        unknown = list(dict.fromkeys(word for word in words if word not in known))
        if unknown:
            encodings = self.tokenizer.encode_batch_fast(unknown, add_special_tokens=False)
            known.update((word, tuple(each.ids[:MOST_TOKENS])) for word, each in zip(unknown, encodings, strict=True))
        found = [known[word] for word in words]
        offsets = offsets_of(np.fromiter(map(len, found), np.int64, len(found)))
        return WordTokens(np.fromiter(chain.from_iterable(found), np.uint16, int(offsets[-1])), offsets)

    def word_vectors(self, words: WordTokens) -> Vectors:
        """The sums of the words' tokens: (words, width)."""
        rows = self.table[words.ids].astype(np.float32)
        rows *= self.scales[words.ids, None]
        return np.asarray(segment_sum(rows, words.offsets), dtype=np.float32)

    def encode(self, words: WordTokens, stream: Ints, offsets: Ints) -> Vectors:
        """The vectors of texts that have the words stream[offsets[t]:offsets[t + 1]], given by number: (texts, width).

        A text without words has a vector of zeros.
        """
        shape = (len(offsets) - 1, len(words))
        counts = csr_array((np.ones(len(stream), dtype=np.float32), stream, offsets), shape=shape)
        return np.asarray(unit_rows(counts @ self.word_vectors(words)), dtype=np.float32)


@cache
def _shipped() -> TokenVectors:
    return _read(FOLDER, TOKEN_VECTORS)


def _read(folder: Path, name: str) -> TokenVectors:
    with checkpoint_errors(
        f"The token vectors in {folder}", "Name a folder that `longmatch train token-vectors` wrote."
    ):
        tensors = load_file(folder / TABLE)
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        table, scales = tensors["table"], tensors["scales"]
        fits = tokenizer.get_vocab_size() <= len(table) <= MOST_ROWS
        if table.dtype != np.int8 or scales.shape != table.shape[:1] or not fits:
            raise ValueError("the table does not fit its tokenizer")
        return TokenVectors(table, scales, tokenizer, name, LANGUAGES)
