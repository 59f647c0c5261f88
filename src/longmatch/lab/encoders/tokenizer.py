"""A checkpoint's tokenizer, without truncation, and its start and end tokens."""

from typing import Any

from longmatch.encoders.pretrained import find_file
from longmatch.encoders.tokenizer import TOKENIZER, check_normalizer
from longmatch.errors import LongmatchError


def open_tokenizer(place: str) -> Any:
    """Load the fast tokenizer of a folder or hub id; it neither truncates nor pads."""
    from transformers import AutoTokenizer

    if (path := find_file(place, TOKENIZER)) is not None:
        check_normalizer(path)
    tokenizer = AutoTokenizer.from_pretrained(place, use_fast=True, trust_remote_code=False)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    return tokenizer


def special_tokens(tokenizer: Any, place: str) -> tuple[int, int]:
    """Ids of the start and end tokens."""
    first = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    last = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    if first is None or last is None:
        raise LongmatchError(f"The model {place} has no start and end tokens; name a BERT-like encoder.")
    if tokenizer.backend_tokenizer.get_vocab_size() <= len(tokenizer.all_special_ids):
        raise LongmatchError(f"The model {place} has no vocabulary. Put its tokenizer.json into the folder.")
    return first, last
