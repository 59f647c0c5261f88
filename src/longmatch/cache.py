"""The user's cache: what longmatch can compute or fetch again, kept between runs."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """The folder of everything that is kept: in XDG_CACHE_HOME, or in ~/.cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "longmatch"


def recall(name: str, key: str) -> Any:
    """What was remembered in the file `name` under a key; None for nothing."""
    return _remembered(name).get(key)


def remember(name: str, key: str, value: Any) -> None:
    """Keep a value, if the disk lets us."""
    path = cache_folder() / name
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(_remembered(name) | {key: value}, indent=1).encode())


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in one step: whoever reads it sees all of the old or all of the new."""
    new = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        new.write_bytes(content)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def _remembered(name: str) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        values = json.loads((cache_folder() / name).read_text(encoding="utf-8"))
        if isinstance(values, dict):
            return values
    return {}
