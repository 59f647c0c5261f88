"""The application: the interface's routes over one library, its safety, and the page."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter, FastAPI

from longmatch.library.library import Library
from longmatch.web.limits import Limits
from longmatch.web.problems import answer_with_sentences
from longmatch.web.routes import compare, documents, library, rank, uploads
from longmatch.web.security import Guard
from longmatch.web.state import State

API = "/api/v1"


def create_app(
    served: Library,
    *,
    token: str | None = None,
    limits: Limits | None = None,
    hosts: frozenset[str] | None = None,
    trained: Mapping[str, Path] | None = None,
) -> FastAPI:
    """The application for a library.

    With a token, the interface answers only those who send it. `hosts` are the names the server may be called by; by
    default those of this computer alone. `trained` are further models, by the name they are asked for.
    """
    state = State(served, limits or Limits(), trained)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        state.worker.begin(state.warm_now)
        yield
        state.close()

    app = FastAPI(
        title="longmatch",
        version=version("longmatch"),
        summary="Finds the long documents that belong together, and shows why.",
        lifespan=life,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.longmatch = state
    answer_with_sentences(app, served)
    app.add_middleware(Guard, token=token, limits=state.limits, hosts=hosts)
    routes = APIRouter(prefix=API)
    for part in (library, documents, uploads, rank, compare):
        routes.include_router(part.router)
    app.include_router(routes)
    for name, attribute in (("longmatch.web.page.routes", "page_router"), ("longmatch.web.routes.views", "router")):
        if find_spec(name):
            app.include_router(getattr(import_module(name), attribute))
    return app
