"""`longmatch compare`: two documents, or the sections of one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from longmatch.cli.library import open_library
from longmatch.cli.options import AsJson, Backbone, Model, with_backbone
from longmatch.cli.output import PAGE, Terminal, check_output, echo, echo_json, writing
from longmatch.cli.progress import load_model, progress, report
from longmatch.errors import LongmatchError

if TYPE_CHECKING:
    from longmatch.matching.match import Match


def compare(
    a: Annotated[str, typer.Argument(help="A file.")],
    b: Annotated[str | None, typer.Argument(help="A second file; without it, A is compared with itself.")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write an HTML page that shows why to this file.")] = None,
    redline: Annotated[
        Path | None,
        typer.Option("--redline", help="Write B with its insertions, deletions and moves against A to this HTML file."),
    ] = None,
    library: Annotated[
        str | None,
        typer.Option("--in", help="A library or folder: compare as it ranks. A and B are ids or files.", metavar="LIB"),
    ] = None,
    as_json: AsJson = False,
    model: Model = "default",
    backbone: Backbone = None,
) -> None:
    """Compare two documents, and show the sections and passages that match."""
    from longmatch.render.html import render_html, render_redline, write_page
    from longmatch.render.json import to_dict
    from longmatch.render.terminal_match import print_match

    if redline and b is None:
        raise LongmatchError("--redline shows how one version differs from another. Name a second file.")
    if html and redline and html.resolve() == redline.resolve():
        raise LongmatchError(f"--html and --redline would both write {html}. Name two files.")
    for output in filter(None, (html, redline)):
        check_output(output, PAGE, [a, b])
    name = with_backbone(model, backbone)
    match = compare_inside(library, name, a, b) if library else compare_alone(name, a, b)
    if html:
        with writing(html):
            write_page(render_html(match), html)
    if redline:
        with writing(redline):
            write_page(render_redline(match), redline)
    if as_json:
        echo_json(to_dict(match))
        return
    print_match(match, Terminal())
    if html:
        echo(f"\nThe page that shows why: {html}")
    if redline:
        echo(f"\nThe changes from A to B: {redline}")


def compare_alone(model: str, a: str, b: str | None) -> "Match":
    """Two files by themselves."""
    from longmatch.documents.read import read

    with progress("reading"):
        documents = [read(file) for file in (a, b) if file is not None]
    matcher = load_model(model)
    with progress("comparing"):
        match = matcher.compare(*documents) if b else matcher.within(documents[0])
    report(matcher)
    return match


def compare_inside(place: str, model: str, a: str, b: str | None) -> "Match":
    """Two documents as a library sees them, among its own."""
    if model != "default":
        raise LongmatchError("--in compares with the library's own model. Leave out --model and --backbone.")
    library, _ = open_library(place)
    if library is None:
        raise LongmatchError(f"{place} is no library, and none can be made there. Name a folder of documents.")
    with progress("comparing"):
        return library.compare(a, b) if b else library.within(a)
