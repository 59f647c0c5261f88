"""A file that comes as multipart/form-data."""

from typing import Any

from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from longmatch.web.problems import Problem

FILE = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]}
FORM: dict[str, Any] = {"multipart/form-data": {"schema": FILE}}
FILE_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": FORM}}


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
