"""Options that several verbs share."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[str, typer.Option("--model", "-m", help="default, sdr, tfidf, phrases or bm25.")]
