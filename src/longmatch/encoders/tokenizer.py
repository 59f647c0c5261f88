"""A checkpoint's tokenizer, without truncation, and its start and end tokens."""

from typing import Any

from tokenizers import Tokenizer

from longmatch.encoders.pretrained import need_file, read_json
from longmatch.errors import LongmatchError

START_TOKENS, END_TOKENS = ("cls_token", "bos_token"), ("sep_token", "eos_token")


def read_tokenizer(place: str) -> tuple[Tokenizer, tuple[int, int]]:
    """The tokenizer of a folder or hub id, without truncation and padding, and the ids of its start and end tokens."""
    path = need_file(place, "tokenizer.json")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more precise
        raise ValueError(f"{path.name}: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, _specials(tokenizer, place)


def _specials(tokenizer: Tokenizer, place: str) -> tuple[int, int]:
    """As its post-processor puts them around a text, else as its settings name them."""
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
    return first, last


def _token_id(tokenizer: Tokenizer, settings: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = settings.get(name)
        token = value.get("content") if isinstance(value, dict) else value
        if token is not None and (found := tokenizer.token_to_id(str(token))) is not None:
            return int(found)
    return None
