"""Where the page and its files are served. They hold nothing of the collection and need no token."""

from fastapi import APIRouter, Request, Response

from longmatch.web.page.assets import Asset, assets, index
from longmatch.web.problems import Problem

page_router = APIRouter(include_in_schema=False)


@page_router.get("/")
async def page(request: Request) -> Response:
    """The page."""
    return _sent(index(), request)


@page_router.get("/static/{name:path}")
async def static(name: str, request: Request) -> Response:
    """One of its files."""
    found = assets().get(name)
    if found is None:
        raise Problem(404, "There is no such file. Open the page at /.")
    return _sent(found, request)


def _sent(asset: Asset, request: Request) -> Response:
    """The file, or that the browser's copy is still right: it asks every time, so a new version is seen at once."""
    headers = {"ETag": asset.tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, headers=headers, media_type=asset.media_type)
