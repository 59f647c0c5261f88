"""Open and save checkpoints with transformers: no code of a folder runs, nothing that it names is fetched."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import CONFIG_MAPPING

from longmatch.encoders.pretrained import find_file, nested_settings, read_config
from longmatch.encoders.weights import weight_files
from longmatch.errors import LongmatchError

ATTENTION = (None, "eager", "sdpa")  # of torch; every other name may stand for a kernel that is fetched


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
