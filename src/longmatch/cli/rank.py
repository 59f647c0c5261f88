"""`longmatch rank`: the documents of a library or a folder that belong with one, or with each of many; or sections."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    from longmatch.matching.hits import Hits
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
    asked = typed_query(query, text) or query
    if isinstance(asked, str):
        refuse_missing(query, folder)
    if by == "section":
        rank_sections(asked, folder, k, where, as_json, csv)
        return
    second = Second(load_model(rerank), rerank_depth, combine) if rerank else None
    library, unreadable = open_library(folder) if model in SEARCH_MODELS else (None, [])
    remarks: list[str] = []
    nothing = ""
    if library is not None:
        answer = search(library, asked, k, where, "sdr" if model == "sdr" else "default", second, unreadable)
        remarks = library.store.model.language_remarks(answer.query.language)
        if where and not answer.hits and not answer.hits.same:
            from longmatch.library.finding import absent_keys
            from longmatch.matching.wording import none_matches

            nothing = none_matches(where, absent_keys(library.store, where), folder)
    elif where:
        raise LongmatchError("--where works on libraries. Make one: longmatch index LIBRARY FILES.")
    else:
        answer = rank_in_memory(asked, Path(folder), k, model, second)
    report(second.matcher if second else None)
    if csv:
        from longmatch.render.export import write_table

        with opened_output(csv) as table:
            write_table(answer.hits, table)
    if as_json:
        answer.print_json(rerank, second, [*remarks, *([nothing] if nothing else [])])
    elif nothing:
        for sentence in (nothing, *answer.hits.left_out):
            echo(sentence)
    elif csv != STANDARD_OUTPUT:
        from longmatch.render.terminal import print_ranking

        for sentence in remarks:
            warn(sentence)
        print_ranking(answer.hits, Terminal())


@dataclass(frozen=True)
class Second:
    """A model that reads the best results, how many of them, and whether its rank is combined with the first's."""

    matcher: "Matcher"
    depth: int
    wish: bool | None  # None for what suits the model

    @property
    def combines(self) -> bool:
        """Whether both ranks count."""
        return self.matcher.counts_with_first if self.wish is None else self.wish


@dataclass(frozen=True)
class Answer:
    """The hits for one query, and what was searched."""

    query: Document
    hits: "Hits"
    documents: int  # searched
    model: str
    unreadable: Unreadable

    def print_json(self, rerank: str | None, second: Second | None, remarks: list[str]) -> None:
        """Print for programs; `rerank` is the name of the second model."""
        from longmatch.render.json import to_dict

        found = {
            "query": _facts(self.query),
            "model": self.model,
            **({"rerank": rerank, "combined": second.combines} if second else {}),
            "documents": self.documents,
            **to_dict(self.hits),
            "remarks": [*remarks, *self.hits.remarks],
            "unreadable": _problems(self.unreadable),
        }
        echo_json(found)


def _facts(query: Document) -> dict[str, Any]:
    return {"id": query.id, "title": query.title, "words": query.words}


def _problems(unreadable: Unreadable) -> list[dict[str, str]]:
    return [{"file": file, "problem": problem} for file, problem in unreadable]


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
    query: str | Document,
    k: int,
    where: str | None,
    by: "By",
    second: Second | None,
    unreadable: Unreadable,
) -> Answer:
    """Rank the documents of a library; rerank the best with a second model, or with both."""
    with progress("reading"):
        document = query if isinstance(query, Document) else library.resolve(query)
    named = query if isinstance(query, str) and query in library else document
    if second is None:
        with progress("searching"):
            return Answer(document, library.rank(named, k, where, by), len(library), by, unreadable)
    matcher, depth = second.matcher, second.depth
    total = min(max(k, depth), len(library))
    with progress(f"searching, then reading with {matcher.name}", total) as advance:
        hits = library.rank(named, k, where, by, rerank=matcher, depth=depth, combine=second.combines, progress=advance)
    return Answer(document, hits, len(library), by, unreadable)


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


def rank_sections(
    query: str | Document, folder: str, k: int, where: str | None, as_json: bool, csv: str | None
) -> None:
    """Print the k sections that answer a question best: as text, as JSON or as a table."""
    from longmatch.render.export import write_table
    from longmatch.render.json import to_dict
    from longmatch.render.terminal import print_sections

    library, unreadable = open_library(folder)
    if library is None:
        raise LongmatchError(
            f"{folder} is no folder that a library can be kept in. Make one: longmatch index LIBRARY FILES."
        )
    document = query if isinstance(query, Document) else library.resolve(query)
    with progress("searching"):
        hits = library.rank_sections(query if isinstance(query, str) and query in library else document, k, where)
    remarks = library.store.model.language_remarks(document.language)
    if csv:
        with opened_output(csv) as table:
            write_table(hits, table)
    if as_json:
        found = {
            "query": _facts(document),
            "documents": len(library),
            **to_dict(hits),
            "remarks": [*remarks, *hits.remarks],
            "unreadable": _problems(unreadable),
        }
        echo_json(found)
    elif csv != STANDARD_OUTPUT:
        for sentence in remarks:
            warn(sentence)
        print_sections(hits, Terminal())


def rank_in_memory(query: str | Document, folder: Path, k: int, model: str, second: Second | None) -> Answer:
    """Read, encode and rank without storing anything; order the best by a second model too, or by it alone."""
    from longmatch.documents.read import names_a_file, read
    from longmatch.library.errors import unknown_query
    from longmatch.library.store import is_library

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
    if second:
        hits = rerank_hits(second, given, hits, k, documents, matcher.name)
    return Answer(given, hits, len(documents), matcher.name, [(error.path, str(error)) for error in unreadable])


def rerank_hits(second: Second, query: Document, hits: "Hits", k: int, documents: list[Document], first: str) -> "Hits":
    """Rerank the hits with another model; the order by `first`, which found them, may count too."""
    import numpy as np

    from longmatch.matching.hits import Hits
    from longmatch.matching.matcher import is_same, rerank

    matcher = second.matcher
    others = sum(not is_same(document, query) for document in documents)
    scores = np.array([hit.score for hit in hits]) if second.combines else None
    with progress(f"reading with {matcher.name}", total=len(hits)) as advance:
        best = rerank(matcher, query, [hit.document for hit in hits], k, others, advance, first=scores)
    reranked = Hits(replace(hits[one.place], score=one.score, percentile=one.percentile) for one in best)
    reranked.ordered_by = (first, matcher.name) if second.combines else None
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
