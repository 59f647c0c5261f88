"""What goes wrong, as the interface says it: a status and one sentence; no traceback, no path of the server."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from longmatch.errors import LongmatchError
from longmatch.library.library import Library

log = logging.getLogger(__name__)

UNKNOWN = "longmatch could not answer this because of an internal error. See the terminal it runs in."
STOPPING = "The server is stopping. Start it again: longmatch serve LIBRARY."
OTHERS_WORDS = {  # what FastAPI says, in ours
    "Not Found": "There is nothing at this address. The interface is described at /docs.",
    "Method Not Allowed": "This address does not take that method. The interface is described at /docs.",
    "There was an error parsing the body": "The body cannot be read. Send JSON as it is described at /docs.",
}


class Problem(LongmatchError):
    """A request that cannot be answered: the status and a sentence for the one who asked."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.headers = status, headers

    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (self.status, str(self), self.headers)


def too_many() -> Problem:
    """Of a question that comes when enough wait."""
    return Problem(429, "Too many questions wait for an answer. Ask again in a moment.", {"Retry-After": "2"})


def answer_with_sentences(app: FastAPI, library: Library) -> None:
    """Turn everything that is raised into {"detail": sentence}."""

    @app.exception_handler(LongmatchError)
    async def mistake(request: Request, error: LongmatchError) -> JSONResponse:
        status, headers = (error.status, error.headers) if isinstance(error, Problem) else (422, None)
        return _answer(status, without_paths(str(error), library), headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return _answer(422, in_words(error.errors()))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        sentence = OTHERS_WORDS.get(str(error.detail), str(error.detail))
        return _answer(error.status_code, sentence, dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        log.error("%s %r", request.method, request.url.path, exc_info=error)
        return _answer(500, UNKNOWN)


def without_paths(sentence: str, library: Library) -> str:
    """A sentence that names the library as the user does, not by where it lies."""
    address = library.address
    places = {address, str(Path(address).resolve())} if "://" not in address else {address}
    for place in sorted(places, key=len, reverse=True):
        if os.sep in place:
            sentence = sentence.replace(place, name_of(library))
    return sentence


def name_of(library: Library) -> str:
    """What to call a library: its folder's name, or that of the documents it is kept beside."""
    place = Path(library.address) if "://" in library.address else Path(library.address).resolve()
    return place.parent.name if place.name.startswith(".") else place.name


def in_words(errors: Sequence[Any]) -> str:
    """The first complaint about a request's values, as a sentence.

    >>> in_words([{"loc": ("query", "k"), "msg": "Input should be less than or equal to 200"}])
    'k is invalid: Input should be less than or equal to 200.'
    """
    if not errors:
        return "Invalid request."
    first = errors[0]
    place = ".".join(str(part) for part in first.get("loc", ())[1:]) or "The request"
    return f"{place} is invalid: {str(first.get('msg', 'it is not understood')).rstrip('.')}."


def _answer(status: int, sentence: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": sentence}, status, headers)
