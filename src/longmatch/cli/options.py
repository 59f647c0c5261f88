"""Options that several commands share."""

from typing import Annotated

import typer

MODELS = "default, sdr, tfidf, phrases, bm25, or the folder of a trained model."

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[str, typer.Option("--model", "-m", help=MODELS)]
