"""longmatch finds the long documents that belong together, and shows why.

>>> import longmatch as lm
>>> sorted(lm.__all__)[:3]
['Document', 'Hit', 'Hits']
"""

import sys

TYPE_CHECKING = False  # typing itself would be most of the time that `import longmatch` takes
if TYPE_CHECKING:
    from typing import Any

    from longmatch.documents.document import Document
    from longmatch.documents.read import read, read_all
    from longmatch.errors import LongmatchError
    from longmatch.lab.evaluation.evaluate import evaluate
    from longmatch.lab.training.train import train
    from longmatch.library.library import Library, rank_text
    from longmatch.matching.hits import Hit, Hits
    from longmatch.matching.match import Match
    from longmatch.models.loading import load
    from longmatch.render.json import to_dict
    from longmatch.render.output import save, show

__version__ = "0.2.0"
__all__ = [
    "Document",
    "Hit",
    "Hits",
    "Library",
    "LongmatchError",
    "Match",
    "evaluate",
    "load",
    "rank_text",
    "read",
    "read_all",
    "save",
    "show",
    "to_dict",
    "train",
]


def __getattr__(name: str) -> "Any":
    """Import each public name on first use, so that `import longmatch` stays quick."""
    from longmatch.addresses import PUBLIC, resolve

    if name not in PUBLIC:
        raise AttributeError(f"module 'longmatch' has no attribute {name!r}")
    return resolve(PUBLIC[name])


def __dir__() -> list[str]:
    return sorted(__all__)


if "IPython" in sys.modules:  # a notebook: what matches and rankings look like there
    from longmatch.render.notebook import register_in_notebook

    register_in_notebook()
