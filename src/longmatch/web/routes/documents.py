"""The documents of the library."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from longmatch.web.catalogue import Order, Sort
from longmatch.web.routes.common import FILE_BODY, Answers, Document, mistakes, sent_file
from longmatch.web.schema import DocumentText, JobStarted, Listing
from longmatch.web.state import TheState

router = APIRouter(tags=["documents"])

PICTURE: Answers = {
    200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}, "description": "The page."}
}
Place = Annotated[int, Query(ge=0, le=2_000_000_000)]


@router.get("/documents", responses=mistakes(422))
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


@router.get("/document", responses=mistakes(404, 422))
def document(state: TheState, id: Document) -> DocumentText:
    """One document with its text: sections and paragraphs, each with its place in the text.

    The text is the readable one: markup is blanked character by character, so that all spans hold.
    """
    found = state.document(id)
    removable = state.additions is not None and state.additions.holds(found.source)
    return DocumentText.of(found, len(state.library.files.ids_of(found.source)) if removable else 0)


@router.post(
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


@router.delete("/documents", status_code=204, responses=mistakes(404, 422, 429, 503))
async def remove_document(state: TheState, id: Document) -> Response:
    """Remove a document that was added to the library in this way, its file, and all others of that file."""
    await state.work(lambda: state.may_add().remove_now(state.document(id)))
    return Response(status_code=204)


@router.get("/document/page", response_class=Response, responses=PICTURE | mistakes(404, 415, 422))
async def page(
    state: TheState, id: Document, page: Annotated[int, Query(ge=1, le=1_000_000)], start: Place = 0, end: Place = 0
) -> Response:
    """One page of a document whose file is a PDF, as a picture; the header Longmatch-Pages says how many it has.

    The passage of the text from start to end is highlighted if it is found on the page. The file must lie where it was
    indexed, unchanged.
    """
    drawn = await state.page(id, page, start, end)
    return Response(drawn.png, media_type="image/png", headers={"Longmatch-Pages": str(drawn.pages)})
