"""Comparisons as the page shows them: the same renderer as `Match.to_html`, without the page around it.

The renderer escapes every character of a document, so that the page can place what comes from here as it is.
"""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response

from longmatch.matching.match import Level, Match
from longmatch.render.html import render_fragment, render_matrix
from longmatch.web.routes.common import Document, Model, mistakes
from longmatch.web.state import State, TheState

router = APIRouter(prefix="/api/v1", tags=["page"], responses=mistakes(401, 403, 404, 421, 422, 429, 503))

Part = Annotated[Literal["all", "matrix"], Query(description="All of it, or the matrix alone.")]

HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}  # mistakes are JSON here too


@router.get("/compare/view", response_class=Response, responses=HTML, summary="A comparison as HTML")
async def compare_view(
    state: TheState, a: Document, b: Document, level: Level = "sections", model: Model = None, part: Part = "all"
) -> HTMLResponse:
    """Two documents side by side with the matrix of a level, to be placed in a page."""
    match = await state.comparison(a, b, model)
    return HTMLResponse(await state.work(_render, state, match, level, part))


@router.get("/within/view", response_class=Response, responses=HTML, summary="The sections of one document as HTML")
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
