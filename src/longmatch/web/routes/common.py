"""Parameters that several routes share, and the error responses of every route."""

from typing import Annotated, Any

from fastapi import Query, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from longmatch.web.problems import Problem
from longmatch.web.schema import Mistake

A_DOCUMENT = "The id of a document of the library, or of an upload."

Document = Annotated[str, Query(max_length=2000, description=A_DOCUMENT, examples=["tower-repair-report.pdf"])]
Model = Annotated[str | None, Query(max_length=200, description="One of the models listed at /api/v1/models.")]

Answers = dict[int | str, dict[str, Any]]
FILE = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}
FORM: dict[str, Any] = {"multipart/form-data": {"schema": FILE}}
FILE_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": FORM}}


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
