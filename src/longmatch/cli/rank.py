"""`longmatch rank`: the documents of a library or a folder that belong with one."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from longmatch.cli.library import SEARCH_MODELS, Unreadable, open_library
from longmatch.cli.on_ray import Ray, WorkerCpus, WorkerGpus, Workers, on_ray
from longmatch.cli.options import AsJson, Model
from longmatch.cli.progress import load_model, progress, warn
from longmatch.cli.rank_each import rank_each
from longmatch.documents.document import Document
from longmatch.errors import LongmatchError, ReadError

if TYPE_CHECKING:
    from longmatch.matching.matcher import Hit, Matcher


def rank(
    query: Annotated[str, typer.Argument(help="Query document: a file, `-` for standard input, or a document id.")],
    folder: Annotated[str, typer.Argument(help="A library, a folder of documents, or a .jsonl file.")],
    k: Annotated[int, typer.Option("-k", min=1, help="Number of results.")] = 10,
    where: Annotated[
        str | None, typer.Option("--where", help='Only documents that match a condition, as in SQL: "year > 2019".')
    ] = None,
    as_json: AsJson = False,
    model: Model = "default",
    rerank: Annotated[
        str | None,
        typer.Option(
            help="Rerank the best results with another model: its name, or its folder.",
            metavar="MODEL",
        ),
    ] = None,
    rerank_depth: Annotated[int, typer.Option(min=1, help="Number of results that --rerank reads.")] = 40,
    each: Annotated[
        bool, typer.Option("--each", help="QUERY is a folder or a .jsonl file; print one line of JSON per document.")
    ] = False,
    ray: Ray = None,
    workers: Workers = None,
    worker_cpus: WorkerCpus = 1.0,
    worker_gpus: WorkerGpus = None,
) -> None:
    """Rank documents by how well they match a query document, or each of many."""
    if each:
        if rerank:
            raise LongmatchError("--rerank reads for one query at a time. Leave out --each, or --rerank.")
        backend = on_ray(ray, workers, worker_cpus, worker_gpus) if ray else None
        rank_each(Path(query), folder, k, where, model, backend)
        return
    if ray:
        raise LongmatchError("--ray is for many queries: name a folder or a .jsonl file, and --each.")
    from longmatch.matching.render.terminal import print_ranking
    from longmatch.matching.render.wording import ranking_remarks

    refuse_missing(query, folder)
    second = load_model(rerank) if rerank else None
    library, unreadable = open_library(folder) if model in SEARCH_MODELS else (None, [])
    if library is not None:
        query_document = read_query(query) if query == "-" else library.resolve(query)
        total = min(max(k, rerank_depth), len(library)) if second else None
        with progress(f"searching, then reading with {rerank}" if second else "searching", total) as report:
            by: Literal["default", "sdr"] = "sdr" if model == "sdr" else "default"
            named = query if query in library else query_document
            hits = library.rank(named, k, where, by, rerank=second, depth=rerank_depth, progress=report)
        documents, name, remarks = len(library), model, library.language_remarks(query_document.language)
    else:
        if where:
            raise LongmatchError("--where works on libraries. Make one: longmatch index LIBRARY FILES.")
        query_document, remarks = read_query(query), []
        hits, documents, unreadable, name = rank_in_memory(query_document, Path(folder), k, model, second, rerank_depth)
    if as_json:
        found = {
            "query": {"id": query_document.id, "title": query_document.title, "words": query_document.words},
            "model": name,
            **({"rerank": rerank} if rerank else {}),
            "documents": documents,
            "remarks": remarks + ranking_remarks(hit.probability for hit in hits),
            "unreadable": [{"file": file, "problem": problem} for file, problem in unreadable],
            "hits": [hit.to_dict() for hit in hits],
        }
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    elif where and not hits:
        typer.echo(f"No document of {folder} matches the condition {where}")
    else:
        for sentence in remarks:
            warn(sentence)
        print_ranking(hits, Console())


def refuse_missing(query: str, folder: str) -> None:
    """Report a missing query before a whole folder is read for it."""
    from longmatch.documents.read import is_readable

    named = [Path(query), Path(folder) / query]
    a_file_by_its_name = is_readable(named[0].name) and "#" not in query and "://" not in folder
    held = any(Path(folder).glob("*.lance")) or (Path(folder) / ".longmatch").exists()  # then it may be an id
    fresh = a_file_by_its_name and Path(folder).is_dir() and not held
    if fresh and not any(path.exists() for path in named):
        raise ReadError(query, "does not exist", "Check the name.")


def read_query(query: str) -> Document:
    """The query document."""
    from longmatch.documents.read import read, read_text_string

    return read_text_string(sys.stdin.read(), "standard input") if query == "-" else read(query)


def rank_in_memory(
    query_document: Document, folder: Path, k: int, model: str, second: "Matcher | None" = None, depth: int = 0
) -> tuple[list["Hit"], int, Unreadable, str]:
    """Read, encode and rank without storing anything; rerank the best `depth` with a second model."""
    from longmatch.library.store import is_library

    if is_library(folder):
        raise LongmatchError(
            f"{folder} is a library, which {model} cannot search. Use --model default or sdr, "
            f"and --rerank {model} to rerank its best results."
        )
    documents, unreadable = read_collection(folder)
    matcher = load_model(model)
    with progress("encoding", total=len(documents)) as report:
        hits = matcher.rank(query_document, documents, max(k, depth) if second else k, report)
    if second:
        hits = rerank_hits(second, query_document, hits, k, documents)
    return hits, len(documents), [(error.path, str(error)) for error in unreadable], matcher.name


def rerank_hits(
    matcher: "Matcher", query_document: Document, hits: list["Hit"], k: int, documents: list[Document]
) -> list["Hit"]:
    """Rerank the hits with another model."""
    from longmatch.matching.matcher import is_same
    from longmatch.matching.reranking import rerank

    others = sum(not is_same(document, query_document) for document in documents)
    with progress(f"reading with {matcher.name}", total=len(hits)) as report:
        found = rerank(matcher, query_document, [hit.document for hit in hits], k, others, report)
    return [replace(hits[one.place], score=one.score, percentile=one.percentile) for one in found]


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
