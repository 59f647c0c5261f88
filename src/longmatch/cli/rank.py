"""`longmatch rank`: the documents of a library or a folder that belong with one."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from longmatch.cli.answer import Answer
from longmatch.cli.library import SEARCH_MODELS, open_library
from longmatch.cli.on_ray import Ray, WorkerCpus, WorkerGpus, Workers, on_ray
from longmatch.cli.options import AsJson, Model
from longmatch.cli.output import STANDARD_OUTPUT, TABLE, check_output
from longmatch.cli.printing import echo, warn
from longmatch.cli.progress import load_model, progress, report
from longmatch.cli.rank_each import rank_each
from longmatch.cli.rank_in_memory import rank_in_memory
from longmatch.cli.rank_sections import rank_sections
from longmatch.documents.document import Document
from longmatch.errors import LongmatchError, ReadError

if TYPE_CHECKING:
    from longmatch.library.library import By, Library
    from longmatch.matching.matcher import Matcher


def rank(
    query: Annotated[
        str,
        typer.Argument(
            help="Query document: a file, `-` for standard input, or a document id. Leave it out with --text."
        ),
    ],
    folder: Annotated[
        str | None,
        typer.Argument(
            help="A library, a folder of documents, or a file of many: .jsonl, .mbox, .zip.", show_default=False
        ),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="Rank for this text instead of a query document.")] = None,
    by: Annotated[
        Literal["document", "section"],
        typer.Option("--by", help="What to rank: whole documents, or the sections that answer a question best."),
    ] = "document",
    k: Annotated[int, typer.Option("-k", min=1, help="Number of results.")] = 10,
    where: Annotated[
        str | None, typer.Option("--where", help='Only documents that match a condition, as in SQL: "year > 2019".')
    ] = None,
    as_json: AsJson = False,
    csv: Annotated[
        str | None,
        typer.Option("--csv", help="Write a table to this file, or `-` for standard output.", metavar="FILE"),
    ] = None,
    model: Model = "default",
    rerank: Annotated[
        str | None,
        typer.Option(
            help="Rerank the best results with another model: its name, or its folder; llm asks a language model.",
            metavar="MODEL",
        ),
    ] = None,
    rerank_depth: Annotated[int, typer.Option(min=1, help="Number of results that --rerank reads.")] = 40,
    combine: Annotated[
        bool | None,
        typer.Option(
            "--combine/--no-combine",
            help="Order them by the mean of both ranks (the default), or by that model alone (llm's default).",
            show_default=False,
        ),
    ] = None,
    each: Annotated[
        bool, typer.Option("--each", help="QUERY is a folder or a file of many; print one line of JSON per document.")
    ] = False,
    ray: Ray = None,
    workers: Workers = None,
    worker_cpus: WorkerCpus = 1.0,
    worker_gpus: WorkerGpus = None,
) -> None:
    """Rank documents, or their sections, by how well they match a query document, or each of many."""
    query, folder = query_and_folder(query, folder, text)
    if csv and csv != STANDARD_OUTPUT:
        check_output(Path(csv), TABLE, [query, folder, Path(folder) / query])
    if by == "section" and (each or rerank or ray or model != "default"):
        raise LongmatchError(
            "--by section ranks with the default model. Leave out --each, --rerank, --ray and --model."
        )
    if combine is not None and not rerank:
        raise LongmatchError("--combine and --no-combine are for two models: add --rerank MODEL.")
    if each:
        if rerank or csv or text is not None:
            raise LongmatchError(
                "--each ranks for many documents, and prints JSON. Leave out --text, --csv and --rerank."
            )
        backend = on_ray(ray, workers, worker_cpus, worker_gpus) if ray else None
        rank_each(Path(query), folder, k, where, model, backend)
        return
    if ray:
        raise LongmatchError("--ray is for many queries: name a folder or a .jsonl file, and --each.")
    typed = typed_query(query, text)
    if typed is None:
        refuse_missing(query, folder)
    if by == "section":
        rank_sections(typed or query, folder, k, where, as_json, csv)
        return
    second = load_model(rerank) if rerank else None
    if second and combine is None:
        combine = second.counts_with_first
    library, unreadable = open_library(folder) if model in SEARCH_MODELS else (None, [])
    if library is not None:
        asked = typed or query
        by_model: By = "sdr" if model == "sdr" else "default"
        answer = search(library, asked, k, where, by_model, second, rerank_depth, combine)
        answer.unreadable.extend(unreadable)
    else:
        if where:
            raise LongmatchError("--where works on libraries. Make one: longmatch index LIBRARY FILES.")
        answer = rank_in_memory(typed or query, Path(folder), k, model, second, rerank_depth, combine)
    report(second)
    is_empty = not answer.hits and not answer.hits.same
    nothing = no_match(library, folder, where) if library is not None and where and is_empty else ""
    remarks = library.language_remarks(answer.query.language) if library is not None else []
    if csv:
        answer.write_csv(csv)
    if as_json:
        answer.print_json(rerank, bool(combine), [*remarks, *([nothing] if nothing else [])])
    elif nothing:
        for sentence in (nothing, *answer.hits.left_out):
            echo(sentence)
    elif csv != STANDARD_OUTPUT:
        for sentence in remarks:
            warn(sentence)
        answer.print_text()


def query_and_folder(query: str, folder: str | None, text: str | None) -> tuple[str, str]:
    """The two arguments; with --text the only one is the folder."""
    if text is not None and folder is not None:
        raise LongmatchError("--text replaces the query document. Name the library alone: rank --text TEXT LIBRARY.")
    if text is not None:
        return "", query
    if folder is None:
        raise LongmatchError("Name a library or a folder to search: rank QUERY LIBRARY, or rank --text TEXT LIBRARY.")
    return query, folder


def typed_query(query: str, text: str | None) -> Document | None:
    """The text of --text or of standard input as a document; None where the query is a file or an id."""
    from longmatch.documents.read import read_text_string

    if text is not None:
        return read_text_string(text, "text")
    return read_text_string(sys.stdin.read(), "standard input") if query == "-" else None


def search(
    library: "Library",
    query: str | Document,
    k: int,
    where: str | None,
    by: "By",
    second: "Matcher | None",
    depth: int,
    combine: bool | None,
) -> Answer:
    """Rank the documents of a library; rerank the best `depth` with a second model, or with both."""
    with progress("reading"):
        document = query if isinstance(query, Document) else library.resolve(query)
    total = min(max(k, depth), len(library)) if second else None
    with progress(f"searching, then reading with {second.name}" if second else "searching", total) as advance:
        named = query if isinstance(query, str) and query in library else document
        hits = library.rank(named, k, where, by, rerank=second, depth=depth, combine=combine, progress=advance)
    return Answer(document, hits, len(library), by, [])


def no_match(library: "Library", folder: str, where: str) -> str:
    """Why no document matches a condition."""
    from longmatch.render.wording import none_matches

    return none_matches(where, library.absent_keys(where), folder)


def refuse_missing(query: str, folder: str) -> None:
    """Report a missing query before a whole folder is read for it."""
    from longmatch.documents.checks import exists
    from longmatch.documents.formats import is_readable

    named = [Path(query), Path(folder) / query]
    a_file_by_its_name = is_readable(named[0].name) and "#" not in query and "://" not in folder
    held = any(Path(folder).glob("*.lance")) or (Path(folder) / ".longmatch").exists()  # then it may be an id
    fresh = a_file_by_its_name and Path(folder).is_dir() and not held
    if fresh and not any(map(exists, named)):
        raise ReadError(query, "does not exist", "Check the name.")
