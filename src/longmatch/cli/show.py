"""`longmatch show`: what a library holds, or one of its documents."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from longmatch.cli.options import AsJson


def show(
    library: Annotated[str, typer.Argument(help="The library.")],
    id: Annotated[str | None, typer.Argument(help="Id of a document; without it, all documents are listed.")] = None,
    find: Annotated[str | None, typer.Option("--find", help="List the documents that contain these words.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the documents of a library, or show the structure of one."""
    from longmatch.cli.read import structure
    from longmatch.library.library import Library
    from longmatch.library.store import locate_library
    from longmatch.matching.render.terminal import print_structure
    from longmatch.matching.render.terminal.printable import printable

    opened = Library(locate_library(library), create=False)
    if id is not None:
        document = opened.show(id)
        if as_json:
            facts = structure(document) | {"source": document.source, "metadata": dict(document.metadata)}
            typer.echo(json.dumps(facts, ensure_ascii=False, indent=2, default=str))
        else:
            print_structure(document, Console())
        return
    listed = [_facts(d) for d in opened.find(find, 50)] if find else opened.describe()
    if as_json:
        typer.echo(json.dumps({"facts": opened.summary(), "documents": listed}, ensure_ascii=False, indent=2))
        return
    if find and not listed:
        typer.echo(f"No document of {library} holds these words: {find}")
        return
    table = Table("id", "title", "language", "words")
    for row in listed:
        table.add_row(*(Text(printable(str(row[name]))) for name in ("id", "title", "language")), f"{row['words']:,}")
    Console().print(table)
    facts = opened.summary()
    computed = f" ({facts['computes']})" if facts["computes"] else ""
    encoded = f"encoded with {facts['backbone']}{computed}, vectors in {facts['vectors']}"
    typer.echo(f"{facts['documents']:,} documents, {facts['words']:,} words; {encoded}")
    if adapted := facts["adapted"]:
        score = adapted["proof"]["score"]
        proven = f"{score['before']:.3f} before, {score['after']:.3f} after (p = {score['p']:.4f})"
        typer.echo(f"Adapted to its documents at {adapted['when']}. Held-back passages found: {proven}.")


def _facts(document: Any) -> dict[str, Any]:
    return {name: getattr(document, name) for name in ("id", "title", "language", "words", "source")}
