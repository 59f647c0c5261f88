"""The interface's routes: the library, its documents, uploads, rankings and comparisons.

Views are comparisons as the page shows them. Their renderer is that of a saved comparison, without the page around it:
it escapes every character of a document, so that the page can place what comes from here as it is.
"""

import asyncio
import json
import re
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from longmatch.documents.formats import upload_suffixes
from longmatch.matching.match import Level, Match
from longmatch.render.html import render_fragment, render_html, render_matrix, render_redline
from longmatch.render.json import View, to_dict
from longmatch.web.catalogue import Order, Sort
from longmatch.web.problems import Problem, in_words, name_of
from longmatch.web.schema import (
    By,
    Comparison,
    Described,
    DocumentText,
    GridScores,
    Health,
    JobStanding,
    JobStarted,
    LibraryFacts,
    Listing,
    Map,
    Mistake,
    Models,
    PastedText,
    Ranking,
    RankRequest,
    Uploaded,
)
from longmatch.web.state import TheState, address_of

API = "/api/v1"
A_DOCUMENT = "The id of a document of the library, or of an upload."

Document = Annotated[str, Query(max_length=2000, description=A_DOCUMENT, examples=["tower-repair-report.pdf"])]
Model = Annotated[str | None, Query(max_length=200, description="One of the models listed at /api/v1/models.")]

Answers = dict[int | str, dict[str, Any]]
FILE = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}
FORM: dict[str, Any] = {"multipart/form-data": {"schema": FILE}}
FILE_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": FORM}}
PICTURE: Answers = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}, "description": "The page."}
}
Place = Annotated[int, Query(ge=0, le=2_000_000_000)]
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {**FORM, "application/json": {"schema": PastedText.model_json_schema()}},
    }
}
Job = Annotated[str, Path(pattern=r"^j-[0-9a-f]{16}$", description="The id that starting it gave.")]
Format = Literal["html", "json", "redline"]
Part = Annotated[Literal["all", "matrix"], Query(description="All of it, or the matrix alone.")]

HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}  # mistakes are JSON here too
A_LEVEL = "sections, chunks (about 250 tokens) or sentences."


def mistakes(*statuses: int) -> Answers:
    """What a route may answer when it has no answer: all of it one sentence."""
    words = {
        421: "The server is not called by that name.",
        401: "The token is missing or wrong.",
        403: "Another site asks, or the server may not do this.",
        400: "The request cannot be read.",
        404: "There is no such document, upload or job.",
        408: "The request did not come whole in time.",
        409: "The library has it already.",
        413: "It is too large.",
        415: "Unsupported file format.",
        422: "A value is invalid.",
        429: "Too many requests are waiting.",
        503: "The server is stopping, or another process is changing the library.",
        507: "The disk is full.",
    }
    return {status: {"model": Mistake, "description": words[status]} for status in statuses}


library_routes = APIRouter(tags=["library"])
document_routes = APIRouter(tags=["documents"])
upload_routes = APIRouter(tags=["uploads"])
rank_routes = APIRouter(tags=["rank"])
compare_routes = APIRouter(tags=["compare"])
views = APIRouter(prefix=API, tags=["page"], responses=mistakes(401, 403, 404, 421, 422, 429, 503))


@library_routes.get("/health")
def health(state: TheState) -> Health:
    """Whether the server answers. It does while questions are worked on."""
    return Health(version=version("longmatch"), documents=len(state.library), ready=state.ready)


@library_routes.get("/library")
def library(state: TheState) -> LibraryFacts:
    """How much the library holds, what made it, and what may be uploaded."""
    facts = state.library.summary()
    limits = state.limits
    return LibraryFacts(
        name=name_of(state.library),
        schema_number=facts.pop("schema"),
        **facts,
        uploads={"bytes": limits.upload_bytes, "words": limits.upload_words},
        formats=list(upload_suffixes()),
        writable=state.additions is not None,
    )


@library_routes.get("/models")
def models(state: TheState) -> Models:
    """The models that may be asked for in a comparison."""
    return Models(models=state.models.names())


@library_routes.get("/map", responses=mistakes(429, 503))
async def library_map(state: TheState) -> Map:
    """Where the documents lie: those that are alike are near, and clusters are labelled by their heaviest words.

    It is worked out once for each state of the library, in seconds; of more than 5,000 documents a sample is shown.
    """
    kept = await asyncio.to_thread(state.chart.kept)
    if kept is not None:
        return kept
    version, (ids, vectors) = await state.work(lambda: (state.library.version, state.library.vectors()))
    return await asyncio.to_thread(state.chart.draw, version, ids, vectors)


@document_routes.get("/documents", responses=mistakes(422))
def documents(
    state: TheState,
    search: Annotated[str, Query(max_length=500, description="Words in the title, the id or the text.")] = "",
    sort: Annotated[Sort | None, Query(description="By default what was searched best first, else by title.")] = None,
    order: Order = "ascending",
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Listing:
    """List documents, or search them by title, id and text."""
    return state.catalogue.page(search, sort, order, offset, limit)


@document_routes.get("/document", responses=mistakes(404, 422))
def document(state: TheState, id: Document) -> DocumentText:
    """One document with its text: sections and paragraphs, each with its place in the text.

    The text is the readable one: markup is blanked character by character, so that all spans hold.
    """
    found = state.document(id)
    removable = state.additions is not None and state.additions.holds(found.source)
    return DocumentText.of(found, len(state.library.files.ids_of(found.source)) if removable else 0)


@document_routes.post(
    "/documents",
    status_code=202,
    openapi_extra=FILE_BODY,
    responses=mistakes(400, 408, 409, 413, 415, 422, 429, 503, 507),
)
async def add_document(state: TheState, request: Request) -> JobStarted:
    """Add a file to the library, as multipart/form-data, if the server was started with --writable.

    A zip file, a mailbox or an e-mail adds all documents that it holds.
    It is read in a separate process, like an upload; what cannot be read is refused. Encoding and storing it is a job:
    once that is done, the document is in the library and its file in the library's folder `uploads`.
    """
    additions = state.may_add()
    return JobStarted(job=(await additions.add(*await sent_file(request))).id)


@document_routes.delete("/documents", status_code=204, responses=mistakes(404, 422, 429, 503))
async def remove_document(state: TheState, id: Document) -> Response:
    """Remove a document that was added to the library in this way, its file, and all others of that file."""
    await state.work(lambda: state.may_add().remove_now(state.document(id)))
    return Response(status_code=204)


@document_routes.get("/document/page", response_class=Response, responses=PICTURE | mistakes(404, 415, 422))
async def page(
    state: TheState, id: Document, page: Annotated[int, Query(ge=1, le=1_000_000)], start: Place = 0, end: Place = 0
) -> Response:
    """One page of a document whose file is a PDF, as a picture; the header Longmatch-Pages says how many it has.

    The passage of the text from start to end is highlighted if it is found on the page. The file must lie where it was
    indexed, unchanged.
    """
    drawn = await state.page(id, page, start, end)
    return Response(drawn.png, media_type="image/png", headers={"Longmatch-Pages": str(drawn.pages)})


async def sent_file(request: Request) -> tuple[bytes, str]:
    """The content and the name of the file in the field `file`."""
    try:
        form = await request.form(max_files=1, max_fields=8)
    except HTTPException as error:
        if error.status_code in (408, 413):
            raise
        raise Problem(400, "The form cannot be read. Send one file, in the field named file.") from error
    try:
        sent = form.get("file")
        if not isinstance(sent, UploadFile) or not sent.filename:
            raise Problem(422, "There is no file in the form. Send it in the field named file.")
        return await sent.read(), sent.filename
    finally:
        await form.close()


@upload_routes.post("/uploads", status_code=201, openapi_extra=BODY, responses=mistakes(400, 408, 413, 415, 422))
async def upload(state: TheState, request: Request) -> Uploaded:
    """Bring a document: a file as multipart/form-data, or a text as JSON.

    It is read in a separate process, held in memory, and never written to disk. Its id can be asked about like
    that of a document of the library, until newer uploads take its place.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        held = await state.uploads.read(*await sent_file(request))
    elif kind == "application/json":
        try:
            pasted = PastedText.model_validate_json(await request.body())
        except ValidationError as error:
            complaints = [{"loc": ("body", *c["loc"]), "msg": c["msg"]} for c in error.errors(include_url=False)]
            raise Problem(422, in_words(complaints)) from error
        held = await state.uploads.paste(pasted.text, " ".join(pasted.title.split()))
    else:
        raise Problem(415, "Send a file as multipart/form-data, or a text as application/json.")
    document = held.document
    facts = (await asyncio.to_thread(Described.of, document)).model_dump()  # counting words may take long
    return Uploaded(**facts, upload=document.id, sections=len(document.sections), remarks=list(document.remarks))


@upload_routes.delete("/uploads", status_code=204, responses=mistakes(404, 422))
def forget(state: TheState, id: Document) -> Response:
    """Forget an upload now."""
    if not state.uploads.drop(id):
        raise Problem(404, f"There is no upload {id}.")
    return Response(status_code=204)


@rank_routes.get("/rank", response_model=Ranking, responses=mistakes(404, 422, 429, 503))
async def rank(
    state: TheState,
    document: Document,
    k: Annotated[int, Query(ge=1, le=200, description="How many documents to name.")] = 10,
    where: Annotated[
        str | None, Query(max_length=500, description="A condition as in SQL.", examples=["words > 1000"])
    ] = None,
    by: Annotated[By, Query(description="The score.")] = "default",
    deep: Annotated[bool, Query(description="Of a question, read the best sections with a model made for it.")] = False,
) -> Any:
    """The documents that belong most with one, best first, with the passages that say why."""
    asked = RankRequest(document=document, k=k, where=where, by=by, deep=deep)
    if state.rankers.ready and by == "default" and state.uploads.get(document) is None:
        return Response(await state.rankers.rank(asked), media_type="application/json")
    if state.worker.busy:
        state.rankers.start()
    return await state.work(state.rank_now, asked)


@rank_routes.post("/rank", status_code=202, responses=mistakes(400, 404, 408, 413, 422, 429, 503))
async def start(state: TheState, asked: RankRequest) -> JobStarted:
    """The same as a job, whose progress can be looked at: for uploads, and for reading again with another model."""
    return JobStarted(job=state.rank_as_job(asked).id)


@rank_routes.get("/jobs/{job}", responses=mistakes(404, 422))
async def look(state: TheState, job: Job) -> JobStanding:
    """How far a job has come, and its result once it is done."""
    return state.jobs.get(job).standing()


@rank_routes.delete("/jobs/{job}", status_code=204, responses=mistakes(404, 422))
async def cancel(state: TheState, job: Job) -> Response:
    """Stop a job."""
    state.jobs.get(job).cancel()
    return Response(status_code=204)


@compare_routes.get("/compare", responses=mistakes(404, 422, 429, 503), response_model=Comparison)
async def compare(state: TheState, a: Document, b: Document, model: Model = None) -> Response:
    """Compare two documents: the score, what carries it, the sections, and all aligned passages.

    With a and b the same, its own sections are compared.
    """
    match = await state.comparison(a, b, model)
    return await state.work(lambda: _sent(Comparison.at(match, address_of(match, model))))


@compare_routes.get("/compare/grid", responses=mistakes(404, 422, 429, 503), response_model=GridScores)
async def grid(
    state: TheState,
    a: Document,
    b: Document,
    level: Annotated[Level, Query(description=A_LEVEL)] = "sections",
    model: Model = None,
) -> Response:
    """The scores of the parts of a with the parts of b, at a level."""
    match = await state.comparison(a, b, model)
    return await state.work(lambda: _sent(GridScores.of(state.grid_now(match, level), level)))


@compare_routes.get("/compare/export", responses=mistakes(404, 422, 429, 503), response_class=Response)
async def export(state: TheState, a: Document, b: Document, format: Format = "html", model: Model = None) -> Response:
    """The comparison as a file to keep: a page that works offline, JSON, or b with its changes against a."""
    match = await state.comparison(a, b, model)
    content = await state.work(MAKERS[format], match)
    kind, ending = ("application/json", "json") if format == "json" else ("text/html", "html")
    name = f"{file_name(match)}{'-changes' if format == 'redline' else ''}.{ending}"
    named = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content.encode("utf-8", "replace"), media_type=f"{kind}; charset=utf-8", headers=named)


@compare_routes.get("/within", responses=mistakes(404, 422, 429, 503), response_model=Comparison)
async def within(state: TheState, document: Document, model: Model = None) -> Response:
    """A document's sections against each other: which of them take each other up."""
    return await compare(state, document, document, model)


def _sent(answer: View) -> Response:
    """A large answer made ready in the scoring thread, so that the server goes on answering others."""
    return Response(answer.model_dump_json(by_alias=True), media_type="application/json")


MAKERS: dict[Format, Callable[[Match], str]] = {
    "html": render_html,
    "json": lambda match: json.dumps(to_dict(match), ensure_ascii=False, indent=2),
    "redline": render_redline,
}


def file_name(match: Match) -> str:
    """A name for an exported comparison that every file system takes."""
    names = [match.a.title] if match.a is match.b else [match.a.title, match.b.title]
    plain = [re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:60] for name in names]
    return "-and-".join(name or "document" for name in plain)


@views.get("/compare/view", response_class=Response, responses=HTML, summary="A comparison as HTML")
async def compare_view(
    state: TheState, a: Document, b: Document, level: Level = "sections", model: Model = None, part: Part = "all"
) -> HTMLResponse:
    """Two documents side by side with the matrix of a level, to be placed in a page."""
    match = await state.comparison(a, b, model)

    def render() -> str:
        grid = state.grid_now(match, level)
        html = render_matrix(match, level, grid) if part == "matrix" else render_fragment(match, level, grid)
        return html.encode("utf-8", errors="replace").decode()  # a half character has no place in an answer

    return HTMLResponse(await state.work(render))


@views.get("/within/view", response_class=Response, responses=HTML, summary="The sections of one document as HTML")
async def within_view(
    state: TheState, document: Document, level: Level = "sections", model: Model = None, part: Part = "all"
) -> HTMLResponse:
    """A document's own parts against each other, to be placed in a page."""
    return await compare_view(state, document, document, level, model, part)


router = APIRouter(prefix=API, responses=mistakes(401, 403, 421))
for part in (library_routes, document_routes, upload_routes, rank_routes, compare_routes):
    router.include_router(part)
