"""Rank the documents of a folder or a file without storing anything."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from longmatch.cli.answer import Answer
from longmatch.cli.printing import warn
from longmatch.cli.progress import load_model, progress, report
from longmatch.documents.document import Document
from longmatch.errors import LongmatchError, ReadError

if TYPE_CHECKING:
    from longmatch.matching.hits import Hits
    from longmatch.matching.matcher import Matcher


def rank_in_memory(
    query: str | Document,
    folder: Path,
    k: int,
    model: str,
    second: "Matcher | None" = None,
    depth: int = 0,
    combine: bool | None = None,
) -> Answer:
    """Read, encode and rank; order the best `depth` by a second model too, or by it alone."""
    from longmatch.library.store import is_library

    if is_library(folder):
        raise LongmatchError(
            f"{folder} is a library, which {model} cannot search. Use --model default or sdr, "
            f"and --rerank {model} to rerank its best results."
        )
    given = _read_if_file(query)
    documents, unreadable = read_collection(folder)
    query_document = given or _document_with_id(str(query), documents, folder)
    matcher = load_model(model)
    with progress("encoding", total=len(documents)) as advance:
        hits = matcher.rank(query_document, documents, max(k, depth) if second else k, advance)
    report(matcher)
    if second:
        hits = rerank_hits(second, query_document, hits, k, documents, matcher.name if combine else None)
    problems = [(error.path, str(error)) for error in unreadable]
    return Answer(query_document, hits, len(documents), matcher.name, problems)


def _read_if_file(query: str | Document) -> Document | None:
    """The query document, unless the query is an id."""
    from longmatch.documents.read import names_a_file, read

    if isinstance(query, Document):
        return query
    return read(query) if names_a_file(query) else None


def _document_with_id(id: str, documents: list[Document], folder: Path) -> Document:
    from longmatch.library.errors import unknown_query

    found = next((document for document in documents if document.id == id), None)
    if found is None:
        raise unknown_query(id, folder)
    return found


def rerank_hits(
    matcher: "Matcher", query_document: Document, hits: "Hits", k: int, documents: list[Document], first: str | None
) -> "Hits":
    """Rerank the hits with another model; the order by `first`, which found them, counts too unless it is None."""
    import numpy as np

    from longmatch.matching.hits import Hits
    from longmatch.matching.matcher import is_same
    from longmatch.matching.reranking import rerank

    others = sum(not is_same(document, query_document) for document in documents)
    found, scores = [hit.document for hit in hits], np.array([hit.score for hit in hits]) if first else None
    with progress(f"reading with {matcher.name}", total=len(hits)) as advance:
        best = rerank(matcher, query_document, found, k, others, advance, first=scores)
    reranked = Hits(replace(hits[one.place], score=one.score, percentile=one.percentile) for one in best)
    reranked.ordered_by = (first, matcher.name) if first else None
    return reranked


def read_collection(folder: Path) -> tuple[list[Document], list[ReadError]]:
    """Every readable document of a folder; each unreadable file is named on standard error."""
    from longmatch.documents.read import read_all

    unreadable: list[ReadError] = []
    documents: list[Document] = []
    try:
        with progress("reading") as advance:
            for document in read_all([folder], unreadable.append):
                documents.append(document)
                advance(1)
    except ReadError as nothing:
        if len(unreadable) == 1:  # it says more: a folder that does not exist, or the one file in it
            raise unreadable[0] from nothing
        raise
    finally:
        for error in unreadable if len(unreadable) > 1 or documents else ():
            warn(error)
    return documents, unreadable
