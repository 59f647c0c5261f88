"""Documents that people bring, as a file or as text."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from longmatch.web.problems import Problem, in_words
from longmatch.web.routes.common import FORM, Document, mistakes, sent_file
from longmatch.web.schema import Described, PastedText, Uploaded
from longmatch.web.state import TheState

router = APIRouter(tags=["uploads"])

BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            **FORM,
            "application/json": {"schema": PastedText.model_json_schema()},
        },
    }
}


@router.post("/uploads", status_code=201, openapi_extra=BODY, responses=mistakes(400, 408, 413, 415, 422))
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


@router.delete("/uploads", status_code=204, responses=mistakes(404, 422))
def forget(state: TheState, id: Document) -> Response:
    """Forget an upload now."""
    if not state.uploads.drop(id):
        raise Problem(404, f"There is no upload {id}.")
    return Response(status_code=204)
