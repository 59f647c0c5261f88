"""Options that several commands share."""

from typing import Annotated

import typer

from longmatch.errors import LongmatchError
from longmatch.models.registry import names_of

MODELS = f"{', '.join(names_of('summary'))}, or the folder of a trained model."

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[str, typer.Option("--model", "-m", help=MODELS)]
Backbone = Annotated[
    str | None,
    typer.Option(help="The encoder of the model: a folder, a Hugging Face id, or multilingual.", metavar="NAME"),
]


def with_backbone(model: str, backbone: str | None) -> str:
    """The name of a model with another backbone.

    >>> with_backbone("default", None), with_backbone("sdr", "multilingual")
    ('default', 'sdr@multilingual')
    """
    if backbone is not None and "@" in model:
        raise LongmatchError(f"{model} names its backbone already. Leave out --backbone.")
    return model if backbone is None else f"{model}@{backbone}"
