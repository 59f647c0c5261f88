"""Opens a pickle that holds nothing but plain containers, strings and numbers; any other is refused unread."""

import pickle
from pathlib import Path
from typing import Any, BinaryIO

from longmatch.errors import ReadError

PLAIN = {
    (module, name)
    for module, names in {
        "builtins": ("dict", "list", "set", "frozenset", "tuple", "str", "int", "float", "bool"),
        "collections": ("OrderedDict", "Counter", "defaultdict"),
    }.items()
    for name in names
}


class _PlainUnpickler(pickle.Unpickler):
    """Knows the plain containers and nothing else, so a pickle cannot call anything."""

    def __init__(self, stream: BinaryIO, name: object) -> None:
        super().__init__(stream)
        self._name = name

    def find_class(self, module: str, name: str) -> Any:
        if module == "__builtin__":  # as Python 2 named them
            module, name = "builtins", {"long": "int", "unicode": "str"}.get(name, name)
        if (module, name) not in PLAIN:
            raise ReadError(self._name, f"is a pickle that asks for {module}.{name}", "Do not trust it.")
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> Any:
        raise ReadError(self._name, "is a pickle that refers to something outside it", "Do not trust it.")


def read_plain_pickle(path: Path, largest: int = 1 << 26) -> Any:
    """The object a small pickle of plain containers, strings and numbers holds."""
    if path.stat().st_size > largest:
        raise ReadError(path, f"is larger than {largest:,} bytes", "A label file is small; do not trust it.")
    with path.open("rb") as stream:
        try:
            return _PlainUnpickler(stream, path).load()
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
            raise ReadError(path, f"is not a readable pickle ({error})", "Fetch it again.") from error
        except (MemoryError, OverflowError, RecursionError):
            raise ReadError(path, "is a pickle that cannot be held in memory", "Do not trust it.") from None
