"""Two documents side by side, or the sections of one."""

import json
import re
from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from longmatch.matching.match import Level, Match
from longmatch.render.html import render_html
from longmatch.render.redline import render_redline
from longmatch.web.routes.common import Document, Model, mistakes
from longmatch.web.schema import Answer, Comparison, GridScores
from longmatch.web.state import TheState, address_of

router = APIRouter(tags=["compare"])

Format = Literal["html", "json", "redline"]
A_LEVEL = "sections, chunks (about 250 tokens) or sentences."


@router.get("/compare", responses=mistakes(404, 422, 429, 503), response_model=Comparison)
async def compare(state: TheState, a: Document, b: Document, model: Model = None) -> Response:
    """Compare two documents: the score, what carries it, the sections, and all aligned passages.

    With a and b the same, its own sections are compared.
    """
    match = await state.comparison(a, b, model)
    return await state.work(lambda: _sent(Comparison.of(match, address_of(match, model))))


@router.get("/compare/grid", responses=mistakes(404, 422, 429, 503), response_model=GridScores)
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


@router.get("/compare/export", responses=mistakes(404, 422, 429, 503), response_class=Response)
async def export(state: TheState, a: Document, b: Document, format: Format = "html", model: Model = None) -> Response:
    """The comparison as a file to keep: a page that works offline, JSON, or b with its changes against a."""
    match = await state.comparison(a, b, model)
    content = await state.work(MAKERS[format], match)
    kind, ending = ("application/json", "json") if format == "json" else ("text/html", "html")
    name = f"{file_name(match)}{'-changes' if format == 'redline' else ''}.{ending}"
    named = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content.encode("utf-8", "replace"), media_type=f"{kind}; charset=utf-8", headers=named)


@router.get("/within", responses=mistakes(404, 422, 429, 503), response_model=Comparison)
async def within(state: TheState, document: Document, model: Model = None) -> Response:
    """A document's sections against each other: which of them take each other up."""
    return await compare(state, document, document, model)


def _sent(answer: Answer) -> Response:
    """A large answer made ready in the scoring thread, so that the server goes on answering others."""
    return Response(answer.model_dump_json(by_alias=True), media_type="application/json")


def _json(match: Match) -> str:
    return json.dumps(match.to_dict(), ensure_ascii=False, indent=2)


MAKERS: dict[Format, Callable[[Match], str]] = {"html": render_html, "json": _json, "redline": render_redline}


def file_name(match: Match) -> str:
    """A name for an exported comparison that every file system takes."""
    names = [match.a.title] if match.a is match.b else [match.a.title, match.b.title]
    plain = [re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower()[:60] for name in names]
    return "-and-".join(name or "document" for name in plain)
