"""longmatch finds the long documents that belong together, and shows why.

>>> import longmatch as lm
>>> sorted(lm.__all__)[:3]
['Document', 'Library', 'LongmatchError']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longmatch.documents.document import Document
    from longmatch.documents.read import read, read_all
    from longmatch.errors import LongmatchError
    from longmatch.library.library import Library
    from longmatch.matching.match import Match
    from longmatch.models.load import load

__version__ = "0.1.0"
__all__ = ["Document", "Library", "LongmatchError", "Match", "load", "read", "read_all"]

_HOMES = {
    "Document": "longmatch.documents.document",
    "Library": "longmatch.library.library",
    "LongmatchError": "longmatch.errors",
    "Match": "longmatch.matching.match",
    "load": "longmatch.models.load",
    "read": "longmatch.documents.read",
    "read_all": "longmatch.documents.read",
}


def __getattr__(name: str) -> Any:
    """Import each public name on first use, so that `import longmatch` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'longmatch' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
