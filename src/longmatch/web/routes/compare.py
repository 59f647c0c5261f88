"""Two documents side by side, or the sections of one; as data, and as the page shows them.

The renderer of views is that of a saved comparison, without the page around it. It escapes every character of a
document, so that the page can place what comes from here as it is.
"""

import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse

from longmatch.matching.match import Level, Match
from longmatch.render.html import render_fragment, render_html, render_matrix, render_redline
from longmatch.render.json import View, to_dict
from longmatch.web.routes.common import Document, Model, mistakes
from longmatch.web.schema import Comparison, GridScores
from longmatch.web.state import State, TheState, address_of

router = APIRouter(tags=["compare"])
views = APIRouter(prefix="/api/v1", tags=["page"], responses=mistakes(401, 403, 404, 421, 422, 429, 503))

Format = Literal["html", "json", "redline"]
Part = Annotated[Literal["all", "matrix"], Query(description="All of it, or the matrix alone.")]

HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}  # mistakes are JSON here too
A_LEVEL = "sections, chunks (about 250 tokens) or sentences."


@router.get("/compare", responses=mistakes(404, 422, 429, 503), response_model=Comparison)
async def compare(state: TheState, a: Document, b: Document, model: Model = None) -> Response:
    """Compare two documents: the score, what carries it, the sections, and all aligned passages.

    With a and b the same, its own sections are compared.
    """
    match = await state.comparison(a, b, model)
    return await state.work(lambda: _sent(Comparison.at(match, address_of(match, model))))


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
    return HTMLResponse(await state.work(_render, state, match, level, part))


@views.get("/within/view", response_class=Response, responses=HTML, summary="The sections of one document as HTML")
async def within_view(
    state: TheState, document: Document, level: Level = "sections", model: Model = None, part: Part = "all"
) -> HTMLResponse:
    """A document's own parts against each other, to be placed in a page."""
    match = await state.comparison(document, document, model)
    return HTMLResponse(await state.work(_render, state, match, level, part))


def _render(state: State, match: Match, level: Level, part: str) -> str:
    grid = state.grid_now(match, level)
    html = render_matrix(match, level, grid) if part == "matrix" else render_fragment(match, level, grid)
    return html.encode("utf-8", errors="replace").decode()  # a half character has no place in an answer
