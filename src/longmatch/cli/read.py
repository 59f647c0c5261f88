"""`longmatch read`: the structure longmatch sees in a file."""

from typing import Annotated, Any

import typer

from longmatch.cli.options import AsJson
from longmatch.cli.output import Terminal, echo_json, exact_output
from longmatch.cli.progress import progress
from longmatch.documents.document import Document


def read(
    file: Annotated[
        str, typer.Argument(help="A file of any format that longmatch reads; FILE#ID for one document of many.")
    ],
    as_json: AsJson = False,
    text: Annotated[bool, typer.Option("--text", help="Print the text that character offsets refer to.")] = False,
) -> None:
    """Show the title, sections, paragraphs and sentences found in a file."""
    from longmatch.documents.read import read as read_document
    from longmatch.render.terminal import print_structure

    with progress("reading"):
        document = read_document(file)
    if text:
        with exact_output() as out:
            out.write(f"{document.text}\n")
    elif as_json:
        echo_json(structure(document))
    else:
        print_structure(document, Terminal())


def structure(document: Document) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        **{name: getattr(document, name) for name in ("id", "title", "language", "words")},
        "metadata": dict(document.metadata),
        "sections": [
            {
                **{name: getattr(section, name) for name in ("heading", "level", "start", "end")},
                "paragraphs": len(section.paragraphs),
                "sentences": sum(len(p.sentences) for p in section.paragraphs),
                "kinds": sorted({p.kind for p in section.paragraphs}),
            }
            for section in document.sections
        ],
    }
