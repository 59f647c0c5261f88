"""`longmatch mcp`: a library as tools of an assistant."""

from typing import Annotated

import typer

from longmatch.cli.output import warn


def mcp(library: Annotated[str, typer.Argument(help="The library, or a folder of documents that has one.")]) -> None:
    """Let an assistant search, compare and read a library (Model Context Protocol over standard input and output)."""
    from longmatch.assistants.server import create_server
    from longmatch.library.library import Library
    from longmatch.library.store import locate_library

    server = create_server(Library(locate_library(library), create=False, on_message=warn))
    server.run("stdio")
