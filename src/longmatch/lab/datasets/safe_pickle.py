"""Load pickles of plain containers, strings and numbers only; any other is rejected without running it."""

import pickle
from pathlib import Path
from typing import Any, BinaryIO

from longmatch.errors import ReadError

_PLAIN = {
    (module, name)
    for module, names in {
        "builtins": ("dict", "list", "set", "frozenset", "tuple", "str", "int", "float", "bool"),
        "collections": ("OrderedDict", "Counter", "defaultdict"),
    }.items()
    for name in names
}


class _PlainUnpickler(pickle.Unpickler):
    """Knows only plain containers, so that a pickle cannot call anything."""

    def __init__(self, stream: BinaryIO, name: object) -> None:
        super().__init__(stream)
        self._name = name

    def find_class(self, module: str, name: str) -> Any:
        if module == "__builtin__":  # Python 2
            module, name = "builtins", {"long": "int", "unicode": "str"}.get(name, name)
        if (module, name) not in _PLAIN:
            raise ReadError(self._name, f"is a pickle that asks for {module}.{name}", "Do not trust it.")
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> Any:
        raise ReadError(self._name, "is a pickle that refers to something outside it", "Do not trust it.")


def read_plain_pickle(path: Path, max_size: int = 1 << 26) -> Any:
    """Load a pickle of plain containers, strings and numbers of at most `max_size` bytes."""
    if path.stat().st_size > max_size:
        raise ReadError(path, f"is larger than {max_size:,} bytes", "A label file is small; do not trust it.")
    with path.open("rb") as stream:
        try:
            return _PlainUnpickler(stream, path).load()
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
            raise ReadError(path, f"is not a readable pickle ({error})", "Fetch it again.") from error
        except (MemoryError, OverflowError, RecursionError):
            raise ReadError(path, "is a pickle that cannot be held in memory", "Do not trust it.") from None
