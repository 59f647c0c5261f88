"""A checkpoint's tokenizer, without truncation, and its start and end tokens."""

import json
from base64 import b64decode
from math import prod
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from longmatch.encoders.pretrained import need_file, read_json
from longmatch.errors import LongmatchError

TOKENIZER = "tokenizer.json"
MOST_GROWTH = 256  # characters that a normalizer makes out of one: Unicode makes 18 of U+FDFA, with 33 bytes
START_TOKENS, END_TOKENS = ("cls_token", "bos_token"), ("sep_token", "eos_token")


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
