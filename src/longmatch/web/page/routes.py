"""Where the page and its files are served. They hold nothing of the collection and need no token."""

from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from fastapi import APIRouter, Request, Response

from longmatch.render import html as render
from longmatch.web.problems import Problem

OWN = Path(__file__).parent / "files"
SHARED = Path(render.__file__).parent / "templates"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

page_router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Asset:
    """One file, ready to be sent."""

    content: bytes
    media_type: str

    def sent(self, request: Request) -> Response:
        """The file, or that the browser's copy is still right: it asks every time, so a new version is seen at once."""
        tag = f'"{sha256(self.content).hexdigest()[:16]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, headers=headers, media_type=self.media_type)


@page_router.get("/")
async def page(request: Request) -> Response:
    """The page."""
    return index().sent(request)


@page_router.get("/static/{name:path}")
async def static(name: str, request: Request) -> Response:
    """One of its files."""
    found = assets().get(name)
    if found is None:
        raise Problem(404, "There is no such file. Open the page at /.")
    return found.sent(request)


@lru_cache(maxsize=1)
def assets() -> dict[str, Asset]:
    """Every file by the name it has below /static: page/... for the page's own, render/... for the shared ones.

    The list is closed. Shared are those that a saved comparison has in it; their styles come first, in their order.
    """
    shared = {f"render/{name}": SHARED / name for name in (*render.STYLES, *render.SCRIPTS)}
    own = {f"page/{path.name}": path for path in sorted(OWN.iterdir()) if path.suffix in TYPES}
    return {name: Asset(path.read_bytes(), TYPES[path.suffix]) for name, path in (shared | own).items()}


@lru_cache(maxsize=1)
def index() -> Asset:
    """The page itself; its own styles may overrule the shared ones."""
    template = render.environment().from_string((OWN / "index.html").read_text("utf-8"))
    styles = [name for name in assets() if name.endswith(".css")]
    content = template.render(styles=styles, scripts=[f"render/{name}" for name in render.SCRIPTS])
    return Asset(content.encode(), "text/html")
