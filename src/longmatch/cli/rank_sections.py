"""`longmatch rank --by section`: the sections of a library that answer a question."""

from longmatch.cli.library import open_library
from longmatch.cli.output import STANDARD_OUTPUT, opened_output
from longmatch.cli.printing import Terminal, echo_json, warn
from longmatch.cli.progress import progress
from longmatch.documents.document import Document
from longmatch.errors import LongmatchError


def rank_sections(
    query: str | Document, folder: str, k: int, where: str | None, as_json: bool, csv: str | None
) -> None:
    """Print the k best sections: as text, as JSON or as a table."""
    from longmatch.render.terminal.sections import print_sections

    library, unreadable = open_library(folder)
    if library is None:
        raise LongmatchError(
            f"{folder} is no folder that a library can be kept in. Make one: longmatch index LIBRARY FILES."
        )
    document = query if isinstance(query, Document) else library.resolve(query)
    with progress("searching"):
        hits = library.rank_sections(query if isinstance(query, str) and query in library else document, k, where)
    remarks = library.language_remarks(document.language)
    if csv:
        with opened_output(csv) as table:
            hits.to_csv(table)
    if as_json:
        found = {
            "query": {"id": document.id, "title": document.title, "words": document.words},
            "documents": len(library),
            "stands_out": hits.stands_out,
            "remarks": [*remarks, *hits.remarks],
            "unreadable": [{"file": file, "problem": problem} for file, problem in unreadable],
            "sections": [hit.to_dict() for hit in hits],
        }
        echo_json(found)
    elif csv != STANDARD_OUTPUT:
        for sentence in remarks:
            warn(sentence)
        print_sections(hits, Terminal())
