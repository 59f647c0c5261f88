"""Importing LanceDB in a quarter of the time.

LanceDB imports a REST client of hundreds of classes, for catalogues on servers, which takes a second and which nothing
here calls. The client's package is put in place without running what it runs at import; whoever asks it for a name
that it then lacks gets the whole of it.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

CLIENT = "lance_namespace_urllib3_client"


class _LazyPackage(ModuleType):
    """A package whose own file is run when a name of it is first asked for; its modules can be imported before."""

    def __init__(self, spec: ModuleSpec) -> None:
        super().__init__(spec.name)
        self.__spec__, self.__path__ = spec, list(spec.submodule_search_locations or [])

    def __getattr__(self, name: str) -> Any:
        spec = self.__dict__.get("__spec__")
        if name.startswith("__") or spec is None or spec.loader is None or "__complete__" in self.__dict__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__dict__["__complete__"] = True
        spec.loader.exec_module(self)
        return getattr(self, name)


def load_lancedb() -> Any:
    """The module `lancedb`."""
    if "lancedb" not in sys.modules and CLIENT not in sys.modules:
        spec = find_spec(CLIENT)
        if spec is not None:
            sys.modules[CLIENT] = _LazyPackage(spec)
    return import_module("lancedb")
