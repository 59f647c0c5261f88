"""`longmatch pairs`: the most similar pairs of a library, and its groups of near-duplicates."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from longmatch.cli.options import AsJson
from longmatch.cli.progress import progress


def pairs(
    library: Annotated[str, typer.Argument(help="The library.")],
    minimum: Annotated[float, typer.Option("--min", min=0.0, max=1.0, help="Minimum score of a pair.")] = 0.8,
    as_json: AsJson = False,
) -> None:
    """Find the most similar pairs of documents, and the groups they form."""
    from longmatch.library.library import Library
    from longmatch.library.store import locate_library
    from longmatch.matching.render.terminal.printable import printable

    opened = Library(locate_library(library), create=False)
    with progress("comparing", total=len(opened)) as report:
        found = opened.pairs(minimum, report)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
        return
    console = Console()
    for pair in found.pairs:
        console.print(Text(f"{pair.score:.2f}  {printable(pair.a)}  ~  {printable(pair.b)}"))
    groups = [group for group in found.groups if len(group) > 2]
    for number, group in enumerate(groups, 1):
        console.print(Text(f"group {number}: " + ", ".join(map(printable, group))))
    if not found.pairs:
        typer.echo(f"No two documents score {minimum:g} or more.")
