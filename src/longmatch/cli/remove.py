"""`longmatch remove`: take documents out of a library."""

from typing import Annotated

import typer

from longmatch.cli.output import echo


def remove(
    library: Annotated[str, typer.Argument(help="The library.")],
    ids: Annotated[list[str], typer.Argument(help="Ids of the documents to remove.", metavar="ID...")],
) -> None:
    """Remove documents from a library. Their files stay as they are, and `index` adds them again: move those aside."""
    from longmatch.cli.output import warn
    from longmatch.library.library import Library
    from longmatch.library.store import locate_library

    Library(locate_library(library), create=False, on_message=warn).remove(ids)
    echo(f"{library}: {len(set(ids)):,} removed")
