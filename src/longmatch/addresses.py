"""Addresses, as `package.module:attribute`: of the public names, the laboratory's commands and its backbone.

With `models/registry.py` the one file that knows both the product and the laboratory. It imports nothing itself: an
address is opened when its name is used, and one in the laboratory needs `pip install 'longmatch[lab]'`.
"""

from importlib import import_module
from typing import Any, NoReturn

from longmatch.errors import LongmatchError

PUBLIC = {
    "Document": "longmatch.documents.document:Document",
    "Hit": "longmatch.matching.hits:Hit",
    "Hits": "longmatch.matching.hits:Hits",
    "Library": "longmatch.library.library:Library",
    "LongmatchError": "longmatch.errors:LongmatchError",
    "Match": "longmatch.matching.match:Match",
    "evaluate": "longmatch.lab.evaluation.evaluate:evaluate",
    "load": "longmatch.models.loading:load",
    "rank_text": "longmatch.library.library:rank_text",
    "read": "longmatch.documents.read:read",
    "read_all": "longmatch.documents.read:read_all",
    "save": "longmatch.render.output:save",
    "show": "longmatch.render.output:show",
    "to_dict": "longmatch.render.json:to_dict",
    "train": "longmatch.lab.training.train:train",
}
COMMANDS = {  # of the command line, those of the laboratory; the product's own are in `cli`
    "train": "longmatch.lab.cli.train:train",
    "evaluate": "longmatch.lab.cli.evaluate:evaluate",
    "data": "longmatch.lab.cli.data:data_app",
}
TORCH_BACKBONE = "longmatch.lab.encoders.backbone:TorchBackbone"  # for GPUs and other architectures
LIBRARIES_OF_LAB = ("accelerate", "networkx", "sklearn", "threadpoolctl", "torch", "transformers")


def resolve(address: str) -> Any:
    """The object at `package.module:attribute`.

    >>> resolve("longmatch.errors:LongmatchError").__name__
    'LongmatchError'
    """
    module, _, attribute = address.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise_missing(error)


def raise_missing(error: ModuleNotFoundError) -> NoReturn:
    """Raise one sentence where a library of the laboratory is not installed; any other error as it is."""
    missing = (error.name or "").partition(".")[0]
    if missing not in LIBRARIES_OF_LAB:
        raise error
    raise LongmatchError(
        f"This needs {missing}, which comes with the laboratory. Install it: pip install 'longmatch[lab]'."
    ) from error
