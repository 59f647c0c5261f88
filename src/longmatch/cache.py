"""The user's cache: what longmatch can compute or fetch again, kept between runs."""

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """The folder of everything that is kept: in XDG_CACHE_HOME, or in ~/.cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "longmatch"


def recall(name: str, key: str) -> Any:
    """What was remembered in the file `name` under a key; None for nothing."""
    return _read(name).get(key)


def remember(name: str, key: str, value: Any) -> None:
    """Keep a value, if the disk lets us; the file is replaced as a whole, so a reader never sees half of it."""
    path = cache_folder() / name
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(_read(name) | {key: value}, indent=1).encode())


def replace_file(path: Path, content: bytes) -> None:
    """Write a file beside its place and move it there."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _read(name: str) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        values = json.loads((cache_folder() / name).read_text(encoding="utf-8"))
        if isinstance(values, dict):
            return values
    return {}
