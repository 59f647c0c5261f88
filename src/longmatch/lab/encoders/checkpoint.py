"""Checkpoints opened and saved with transformers: no code of a folder runs, nothing that it names is fetched."""

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import CONFIG_MAPPING, AutoConfig, PretrainedConfig

from longmatch.encoders.checkpoint import TOKENIZER, check_normalizer, weight_files
from longmatch.encoders.pretrained import find_file, nested_settings, read_config
from longmatch.errors import LongmatchError

ATTENTION = (None, "eager", "sdpa")  # of torch; every other name may stand for a kernel that is fetched
KEYS = ("hidden_dropout_prob", "attention_probs_dropout_prob")


def open_checkpoint(kind: Any, place: Any, **settings: Any) -> Any:
    """`kind.from_pretrained` of a folder or hub id in float32; `settings` are further arguments of that.

    Raises LongmatchError where the checkpoint asks for more than its weights: code, an adapter, a kernel.
    """
    if unknown := next(_demands(str(place)), ""):
        raise LongmatchError(f"The model {place} needs {unknown}, which longmatch never runs. Choose another model.")
    weight_files(str(place))  # pickles are not loaded, nor converted by a service of the hub
    return kind.from_pretrained(
        place, **{"dtype": torch.float32} | settings, trust_remote_code=False, use_safetensors=True
    )


def nested_config(settings: Mapping[str, Any] | None, **changes: Any) -> PretrainedConfig:
    """The configuration of a backbone that a model's own configuration holds as `settings`; BERT's by default."""
    facts = dict(settings or {})
    return AutoConfig.for_model(facts.pop("model_type", "bert"), **facts | changes)


def save_checkpoint(model: Any, folder: Path) -> None:
    """`save_pretrained`, without paths of this machine; who may read the config may read the weights."""
    model.save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for settings in nested_settings(config):
        settings.pop("_name_or_path", None)
    path.write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    for weights in folder.glob("*.safetensors"):
        shutil.copymode(path, weights)


def _demands(place: str) -> Iterator[str]:
    """What a checkpoint asks transformers to run or to fetch besides its own weights."""
    if find_file(place, "adapter_config.json"):
        yield "an adapter (adapter_config.json)"
    for settings in nested_settings(read_config(place)):
        if "auto_map" in settings and settings.get("model_type") not in CONFIG_MAPPING:
            yield "code of its own (auto_map in config.json)"
        if any(value not in ATTENTION for name, value in settings.items() if "attn_implementation" in name):
            yield "an attention kernel (attn_implementation in config.json)"
        if "quantization_config" in settings:
            yield "a library for quantised weights (quantization_config in config.json)"


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


def set_dropout(backbone: Any, rate: float | None) -> None:
    """Train a BERT-like backbone with this dropout of states and attention; None leaves its own."""
    if rate is None:
        return
    for key in KEYS:
        setattr(backbone.config, key, rate)
    for module in backbone.modules():
        if isinstance(module, nn.Dropout):
            module.p = rate
