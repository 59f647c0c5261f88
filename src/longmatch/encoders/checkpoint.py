"""A checkpoint's tokenizer, without truncation, with its start and end tokens, and its weights as numpy arrays."""

import json
from base64 import b64decode
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import deserialize, safe_open
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from longmatch.encoders.pretrained import find_file, need_file, read_json
from longmatch.errors import LongmatchError

TOKENIZER = "tokenizer.json"
MOST_GROWTH = 256  # characters that a normalizer makes out of one: Unicode makes 18 of U+FDFA, with 33 bytes
START_TOKENS, END_TOKENS = ("cls_token", "bos_token"), ("sep_token", "eos_token")
WEIGHTS, PARTS = "model.safetensors", "model.safetensors.index.json"
KINDS = {  # by the names of safetensors
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": np.uint16,
    "I64": np.int64,
    "I32": np.int32,
}


def read_tokenizer(place: str) -> tuple[Tokenizer, tuple[int, int]]:
    """The tokenizer of a folder or hub id, without truncation and padding, and the ids of its start and end tokens."""
    path = need_file(place, TOKENIZER)
    check_normalizer(path)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more precise
        raise ValueError(f"{path.name}: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # the special tokens as its post-processor puts them around a text, else as its settings name them
    around: list[int | None] = list(tokenizer.encode("").ids)
    if len(around) != 2:
        files = "special_tokens_map.json", "tokenizer_config.json"
        settings = {name: token for file in files for name, token in (read_json(place, file) or {}).items()}
        around = [_token_id(tokenizer, settings, names) for names in (START_TOKENS, END_TOKENS)]
    first, last = around
    if first is None or last is None:
        raise LongmatchError(f"The model {place} has no start and end tokens; name a BERT-like encoder.")
    if tokenizer.get_vocab_size() <= len(tokenizer.get_added_tokens_decoder()):
        raise LongmatchError(f"The model {place} has no vocabulary. Put its tokenizer.json into the folder.")
    return tokenizer, (first, last)


def check_normalizer(path: Path) -> None:
    """Raise ValueError where a `tokenizer.json` would make much text out of little."""
    growth = _growth(json.loads(path.read_text(encoding="utf-8")).get("normalizer") or {})
    if growth > MOST_GROWTH:
        raise ValueError(f"{path.name}: its normalizer may make {growth:,} characters out of one")


def _growth(normalizer: dict[str, Any]) -> int:
    """The most characters that one becomes; Unicode's own forms aside, which hardly add any."""
    match normalizer["type"] if normalizer else "":
        case "Sequence":
            return prod(_growth(step) for step in normalizer["normalizers"])
        case "Replace":
            return max(1, len(normalizer["content"]))
        case "Prepend":
            return 1 + len(normalizer["prepend"])
        case "Precompiled":  # the length of a trie, the trie, and what its entries become, divided by zeros
            stored = b64decode(normalizer["precompiled_charsmap"] or "")
            return max(1, *map(len, stored[4 + int.from_bytes(stored[:4], "little") :].split(b"\0")))
        case _:
            return 1


def _token_id(tokenizer: Tokenizer, settings: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = settings.get(name)
        token = value.get("content") if isinstance(value, dict) else value
        if token is not None and (found := tokenizer.token_to_id(str(token))) is not None:
            return int(found)
    return None


def weight_files(place: str) -> list[Path]:
    """The files of the weights of a folder or hub id: one, or the parts that an index lists."""
    parts = find_file(place, PARTS)
    names = json.loads(parts.read_text(encoding="utf-8"))["weight_map"].values() if parts else [WEIGHTS]
    files = [need_file(place, name) for name in sorted(set(names))]
    for file in files:
        with safe_open(file, framework="numpy"):  # raises if the file is damaged
            pass
    return files


def read_weights(files: list[Path]) -> dict[str, npt.NDArray[Any]]:
    """All weights as they are stored; numpy has no bfloat16, whose bits come as uint16."""
    weights: dict[str, npt.NDArray[Any]] = {}
    for path in files:
        try:
            weights |= load_file(path)
        except (KeyError, TypeError, AttributeError):  # of a type that numpy lacks
            for name, tensor in deserialize(path.read_bytes()):
                kind = KINDS.get(tensor["dtype"])
                if kind is None:
                    raise ValueError(f"its weights are stored as {tensor['dtype']}") from None
                weights[name] = np.frombuffer(tensor["data"], dtype=kind).reshape(tensor["shape"])
    return weights


def as_float32(array: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Weights of any precision; bfloat16 is the upper half of a float32.

    >>> as_float32(np.array([0x3F80, 0xC000], dtype=np.uint16)).tolist()
    [1.0, -2.0]
    """
    if array.dtype.kind in "uV" and array.dtype.itemsize == 2:
        array = (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if array.dtype.kind != "f":
        raise ValueError(f"weights of {array.dtype}")
    return np.ascontiguousarray(array, np.float32)
