"""`longmatch show`: what a library holds, or one of its documents; as a list or as a bibliography."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from longmatch.cli.options import AsJson
from longmatch.cli.output import STANDARD_OUTPUT, TABLE, Terminal, check_output, echo, echo_json, opened_output, warn
from longmatch.errors import LongmatchError

if TYPE_CHECKING:
    from longmatch.library.library import Library
    from longmatch.render.export import Format

FOUND = 50  # documents that --find lists
ENDINGS = {"bibtex": (".bib", ".bibtex"), "ris": (".ris",), "csv": TABLE}  # of the files that may be replaced


def show(
    library: Annotated[str, typer.Argument(help="The library.")],
    id: Annotated[str | None, typer.Argument(help="Id of a document; without it, all documents are listed.")] = None,
    find: Annotated[
        str | None,
        typer.Option(
            "--find", help='List the documents that contain all these words and "exact phrases", with sentences.'
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            help="Only documents that match a condition, as in SQL: \"year > 2019 AND author contains 'doe'\"."
        ),
    ] = None,
    bibtex: Annotated[
        str | None, typer.Option(help="Write a bibliography to this file, or `-` for standard output.", metavar="FILE")
    ] = None,
    ris: Annotated[str | None, typer.Option(help="Write a RIS file for reference managers.", metavar="FILE")] = None,
    csv: Annotated[str | None, typer.Option(help="Write a table for spreadsheets.", metavar="FILE")] = None,
    as_json: AsJson = False,
) -> None:
    """List the documents of a library, or show the structure of one; or export them as a bibliography."""
    from longmatch.library.library import Library
    from longmatch.library.store import locate_library

    exports: dict[Format, str | None] = {"bibtex": bibtex, "ris": ris, "csv": csv}
    for form, file in exports.items():
        if file and file != STANDARD_OUTPUT:
            check_output(Path(file), ENDINGS[form])
    opened = Library(locate_library(library), create=False, on_message=warn)
    if any(exports.values()):
        from longmatch.render.export import export

        records = _selected(opened, id, find, where)
        if not records:
            raise LongmatchError("There is no document to export. Check the condition.")
        for form, file in exports.items():
            if file:
                with opened_output(file) as out:
                    export(records, form, out)
            if file and file != STANDARD_OUTPUT:
                echo(f"{file}: {len(records):,} {'document' if len(records) == 1 else 'documents'}")
    elif id is not None:
        from longmatch.cli.read import structure
        from longmatch.render.terminal import print_structure

        document = opened.show(id)
        if as_json:
            echo_json(structure(document) | {"source": document.source})
        else:
            print_structure(document, Terminal())
    elif find:
        _print_found(opened, library, find, where, as_json)
    else:
        _list(opened, library, opened.records(where), where, as_json)


def _selected(
    opened: "Library", id: str | None, find: str | None, where: str | None, most: int | None = None
) -> list[dict[str, Any]]:
    """The records of the documents asked for; those found by words come best first, `most` of them or all."""
    if id is None and not find:
        return opened.records(where)
    ids = opened.find_ids(find, most, where) if find else [opened.show(str(id)).id]
    records = {record["id"]: record for record in opened.records(where)}
    return [records[id] for id in ids if id in records]


def _print_found(opened: "Library", library: str, find: str, where: str | None, as_json: bool) -> None:
    """The documents that contain what was searched for, each with the sentences that have most of it."""
    from longmatch.library.finding import Wanted, snippets
    from longmatch.render.json import to_dict
    from longmatch.render.terminal import print_snippet, printable

    wanted, found = Wanted.of(find), _selected(opened, None, find, where, FOUND + 1)
    listed = found[:FOUND]
    for record in listed:
        record["snippets"] = snippets(opened.show(record["id"]), wanted)
    if as_json:
        for record in listed:
            record["snippets"] = [
                {**to_dict(one.passage), "page": one.page, "words": list(one.words)} for one in record["snippets"]
            ]
        echo_json({"facts": opened.summary(), "documents": listed})
        return
    if not listed:
        matching = f" that matches {where}" if where else ""
        echo(f"No document of {library}{matching} contains all of this: {find}")
    console = Terminal()
    for number, record in enumerate(listed, 1):
        console.print(Text(f"{number}. {printable(record['title'])}", "bold"))
        console.print(Text(f"   {printable(record['id'])}", "dim"))
        for snippet in record["snippets"]:
            print_snippet(snippet.passage, snippet.page, snippet.words, console)
    if len(found) > FOUND:
        echo(f"These are the best {FOUND}; more documents contain this.")


def _list(opened: "Library", library: str, listed: list[dict[str, Any]], where: str | None, as_json: bool) -> None:
    from longmatch.library.finding import left_out
    from longmatch.render.terminal import printable

    if as_json:
        echo_json({"facts": opened.summary(), "documents": listed})
        return
    if not listed and where:
        for sentence in (f"No document of {library} matches the condition {where}", *left_out(opened.store, where)):
            echo(sentence)
        return
    known = [name for name in ("author", "year") if any(row["metadata"].get(name) for row in listed)]
    table = Table(Column("id", overflow="fold"), "title", *known, "language", "words")
    for row in listed:
        cells = [row["id"], row["title"], *(row["metadata"].get(name) or "" for name in known), row["language"]]
        table.add_row(*(Text(printable(str(cell))) for cell in cells), f"{row['words']:,}")
    Terminal().print(table)
    for sentence in left_out(opened.store, where):
        echo(sentence)
    facts = opened.summary()
    computed = f" ({facts['computes']})" if facts["computes"] else ""
    kept = "none kept" if facts["vectors"] == "none" else f"in {facts['vectors']}"
    encoded = f"encoded with {facts['backbone']}{computed}, vectors {kept}"
    echo(f"{facts['documents']:,} documents, {facts['words']:,} words; {encoded}")
