"""`longmatch rank`: the documents of a folder that belong with one."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from longmatch.cli.options import AsJson, Model
from longmatch.cli.progress import load_model, progress, warn
from longmatch.documents.document import Document
from longmatch.errors import ReadError


def rank(
    query: Annotated[str, typer.Argument(help="The document to find company for.")],
    folder: Annotated[Path, typer.Argument(help="A folder of documents, or a .jsonl file.")],
    k: Annotated[int, typer.Option("-k", min=1, help="How many to show.")] = 10,
    as_json: AsJson = False,
    model: Model = "default",
) -> None:
    """Rank the documents of a folder by how much they belong with a document."""
    from longmatch.documents.read import read
    from longmatch.matching.render.terminal import print_ranking

    asked = read(query)
    documents, unreadable = read_collection(folder)
    matcher = load_model(model)
    with progress("encoding", total=len(documents)) as report:
        hits = matcher.rank(asked, documents, k, report)
    if as_json:
        found = {
            "query": {"id": asked.id, "title": asked.title, "words": asked.words},
            "model": matcher.name,
            "documents": len(documents),
            "unreadable": [{"file": error.path, "problem": str(error)} for error in unreadable],
            "hits": [hit.to_dict() for hit in hits],
        }
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        print_ranking(hits, Console())


def read_collection(folder: Path) -> tuple[list[Document], list[ReadError]]:
    """Every readable document of a folder; each unreadable file is named on standard error."""
    from longmatch.documents.read import read_all

    unreadable: list[ReadError] = []
    documents: list[Document] = []
    try:
        with progress("reading") as report:
            for document in read_all([folder], unreadable.append):
                documents.append(document)
                report(1)
    except ReadError as nothing:
        if len(unreadable) == 1:  # it says more: a folder that does not exist, or the one file in it
            raise unreadable[0] from nothing
        raise
    finally:
        for error in unreadable if len(unreadable) > 1 or documents else ():
            warn(error)
    return documents, unreadable
