"""`longmatch rank`: the documents of a library or a folder that belong with one, or with each of many; or sections."""

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from longmatch.cli.library import SEARCH_MODELS, Unreadable, open_library
from longmatch.cli.options import AsJson, Model, Ray, WorkerCpus, WorkerGpus, Workers, on_ray
from longmatch.cli.output import (
    STANDARD_OUTPUT,
    TABLE,
    Terminal,
    check_output,
    echo,
    echo_json,
    opened_output,
    warn,
)
from longmatch.cli.progress import load_model, progress, report
from longmatch.documents.document import Document
from longmatch.errors import LongmatchError, ReadError

if TYPE_CHECKING:
    from longmatch.distributed.indexing import RayBackend
    from longmatch.library.library import By, Library
    from longmatch.matching.hits import Hits, SectionHits
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
    deep: Annotated[
        bool, typer.Option("--deep", help="Read the sections that answer a question best with a model made for it.")
    ] = False,
    each: Annotated[
        bool, typer.Option("--each", help="QUERY is a folder or a file of many; print one line of JSON per document.")
    ] = False,
    ray: Ray = None,
    workers: Workers = None,
    worker_cpus: WorkerCpus = 1.0,
    worker_gpus: WorkerGpus = None,
) -> None:
    """Rank documents, or their sections, by how well they match a query document, or each of many."""
    if text is not None:
        if folder is not None:
            raise LongmatchError(
                "--text replaces the query document. Name the library alone: rank --text TEXT LIBRARY."
            )
        query, folder = "", query
    if folder is None:
        raise LongmatchError("Name a library or a folder to search: rank QUERY LIBRARY, or rank --text TEXT LIBRARY.")
    if csv and csv != STANDARD_OUTPUT:
        check_output(Path(csv), TABLE, [query, folder, Path(folder) / query])
    if by == "section" and (each or rerank or ray or model != "default"):
        raise LongmatchError(
            "--by section ranks with the default model. Leave out --each, --rerank, --ray and --model."
        )
    if combine is not None and not rerank:
        raise LongmatchError("--combine and --no-combine are for two models: add --rerank MODEL.")
    if deep and (rerank or ray or model != "default"):
        raise LongmatchError("--deep reads after the default model. Leave out --rerank, --ray and --model.")
    if each:
        if rerank or csv or deep or text is not None:
            raise LongmatchError(
                "--each ranks for many documents, and prints JSON. Leave out --text, --csv, --deep and --rerank."
            )
        backend = on_ray(ray, workers, worker_cpus, worker_gpus) if ray else None
        rank_each(Path(query), folder, k, where, model, backend)
        return
    if ray:
        raise LongmatchError("--ray is for many queries: name a folder or a .jsonl file, and --each.")
    from longmatch.documents.read import read_text_string

    asked: str | Document = query
    if text is not None:
        asked = read_text_string(text, "text")
    elif query == "-":
        asked = read_text_string(sys.stdin.read(), "standard input")
    else:
        refuse_missing(query, folder)
    if by == "section":
        show_answer(rank_sections(asked, folder, k, where, deep), as_json, csv)
        return
    second = None
    if rerank:
        matcher = load_model(rerank)
        second = Second(rerank, matcher, rerank_depth, matcher.counts_with_first if combine is None else combine)
    library, unreadable = open_library(folder) if model in SEARCH_MODELS else (None, [])
    if library is not None:
        answer = search(library, folder, asked, k, where, model, second, unreadable, deep)
    elif where or deep:
        option = "--where works on" if where else "--deep reads"
        raise LongmatchError(f"{option} libraries. Make one: longmatch index LIBRARY FILES.")
    else:
        answer = rank_in_memory(asked, Path(folder), k, model, second)
    report(second.matcher if second else None)
    show_answer(answer, as_json, csv)


class Second(NamedTuple):
    """A model that reads the best results, how many of them, and whether its rank is combined with the first's."""

    name: str  # as it was asked for
    matcher: "Matcher"
    depth: int
    combines: bool


@dataclass(frozen=True)
class Answer:
    """The hits for one query, and what was searched."""

    query: Document
    hits: "Hits | SectionHits"
    searched: dict[str, Any]  # for programs: by which models, and how many documents
    unreadable: Unreadable
    remarks: list[str] = field(default_factory=list)  # on the query
    nothing: str = ""  # why the condition leaves none


def show_answer(answer: Answer, as_json: bool, csv: str | None) -> None:
    """Print it as text or as JSON, or write it as a table."""
    hits, remarks = answer.hits, answer.remarks
    if csv:
        from longmatch.render.export import write_table

        with opened_output(csv) as table:
            write_table(hits, table)
    if as_json:
        from longmatch.render.json import to_dict

        found = {
            "query": _facts(answer.query),
            **answer.searched,
            **to_dict(hits),
            "remarks": [*remarks, *filter(None, [answer.nothing]), *hits.remarks],
            "unreadable": [{"file": file, "problem": problem} for file, problem in answer.unreadable],
        }
        echo_json(found)
    elif answer.nothing:
        for sentence in (answer.nothing, *hits.left_out):
            echo(sentence)
    elif csv != STANDARD_OUTPUT:
        from longmatch.matching.hits import Hits
        from longmatch.render.terminal import print_ranking, print_sections

        for sentence in remarks:
            warn(sentence)
        if isinstance(hits, Hits):
            print_ranking(hits, Terminal())
        else:
            print_sections(hits, Terminal())


def _facts(query: Document) -> dict[str, Any]:
    return {"id": query.id, "title": query.title, "words": query.words}


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


def search(
    library: "Library",
    folder: str,
    query: str | Document,
    k: int,
    where: str | None,
    model: str,
    second: Second | None,
    unreadable: Unreadable,
    deep: bool = False,
) -> Answer:
    """Rank the documents of a library; rerank the best with a second model, or with both."""
    from longmatch.library.finding import absent_keys
    from longmatch.matching.wording import none_matches

    by: By = "sdr" if model == "sdr" else "default"
    with progress("reading"):
        document = query if isinstance(query, Document) else library.resolve(query)
    named = query if isinstance(query, str) and query in library else document
    searched: dict[str, Any] = {"model": by}
    if second is None:
        with progress("searching"):
            hits = library.rank(named, k, where, by, deep=deep)
    else:
        name, matcher, depth, combines = second
        total = min(max(k, depth), len(library))
        with progress(f"searching, then reading with {matcher.name}", total) as advance:
            hits = library.rank(named, k, where, by, rerank=matcher, depth=depth, combine=combines, progress=advance)
        searched |= {"rerank": name, "combined": combines}
    searched["documents"] = len(library)
    remarks = library.store.model.language_remarks(document.language)
    empty = where and not hits and not hits.same
    nothing = none_matches(where, absent_keys(library.store, where), folder) if where and empty else ""
    return Answer(document, hits, searched, unreadable, remarks, nothing)


def rank_each(queries: Path, folder: str, k: int, where: str | None, model: str, backend: "RayBackend | None") -> None:
    """Print one line of JSON per query, in order; files that cannot be read are named and skipped."""
    from longmatch.documents.read import read_all
    from longmatch.render.json import to_dict

    library, _ = open_library(folder) if model in SEARCH_MODELS else (None, [])
    if library is None:
        raise LongmatchError(
            f"--each searches a library, with the models {' and '.join(SEARCH_MODELS)}. Make one: longmatch index."
        )
    by: By = "sdr" if model == "sdr" else "default"
    documents = read_all([queries], warn)
    if backend:
        from longmatch.distributed.ranking import RankOptions, rank_on_ray

        answers = rank_on_ray(library.address, documents, RankOptions(k, where, by), backend)
    else:
        answers = library.rank_many(documents, k, where, by)
    with progress("ranking") as advance:
        for query, hits in answers:
            remarks = library.store.model.language_remarks(query.language) + hits.remarks
            echo_json({"query": _facts(query), **to_dict(hits), "remarks": remarks}, None)
            advance(1)


def rank_sections(query: str | Document, folder: str, k: int, where: str | None, deep: bool = False) -> Answer:
    """The k sections that answer a question best."""
    library, unreadable = open_library(folder)
    if library is None:
        raise LongmatchError(
            f"{folder} is no folder that a library can be kept in. Make one: longmatch index LIBRARY FILES."
        )
    document = query if isinstance(query, Document) else library.resolve(query)
    with progress("searching"):
        named = query if isinstance(query, str) and query in library else document
        hits = library.rank_sections(named, k, where, deep)
    remarks = library.store.model.language_remarks(document.language)
    return Answer(document, hits, {"documents": len(library)}, unreadable, remarks)


def rank_in_memory(query: str | Document, folder: Path, k: int, model: str, second: Second | None) -> Answer:
    """Read, encode and rank without storing anything; order the best by a second model too, or by it alone."""
    import numpy as np

    from longmatch.documents.read import names_a_file, read
    from longmatch.library.errors import unknown_query
    from longmatch.library.store import is_library
    from longmatch.matching.hits import Hits
    from longmatch.matching.matcher import is_same, rerank

    if is_library(folder):
        raise LongmatchError(
            f"{folder} is a library, which {model} cannot search. Use --model default or sdr, "
            f"and --rerank {model} to rerank its best results."
        )
    given = read(query) if isinstance(query, str) and names_a_file(query) else query
    documents, unreadable = read_collection(folder)
    if isinstance(given, str):
        found = next((document for document in documents if document.id == given), None)
        if found is None:
            raise unknown_query(given, folder)
        given = found
    matcher = load_model(model)
    with progress("encoding", total=len(documents)) as advance:
        hits = matcher.rank(given, documents, max(k, second.depth) if second else k, advance)
    report(matcher)
    searched: dict[str, Any] = {"model": matcher.name}
    if second:
        others = sum(not is_same(document, given) for document in documents)
        scores = np.array([hit.score for hit in hits]) if second.combines else None
        with progress(f"reading with {second.matcher.name}", total=len(hits)) as advance:
            best = rerank(second.matcher, given, [hit.document for hit in hits], k, others, advance, first=scores)
        hits = Hits(replace(hits[one.place], score=one.score, percentile=one.percentile) for one in best)
        hits.ordered_by = (matcher.name, second.matcher.name) if second.combines else None
        searched |= {"rerank": second.name, "combined": second.combines}
    searched["documents"] = len(documents)
    return Answer(given, hits, searched, [(error.path, str(error)) for error in unreadable])


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
