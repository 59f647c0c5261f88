"""The application: the interface's routes over one library, its safety, and the page."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import APIRouter, FastAPI

from longmatch.library.library import Library
from longmatch.web.adding import adopt
from longmatch.web.limits import Limits
from longmatch.web.page.routes import page_router
from longmatch.web.problems import answer_with_sentences
from longmatch.web.routes import compare, describe, documents, library, map, rank, uploads, views
from longmatch.web.routes.common import mistakes
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
    writable: bool = False,
) -> FastAPI:
    """The application for a library.

    With a token, the interface answers only those who send it. `hosts` are the names the server may be called by; by
    default those of this computer alone. `trained` are further models, by the name they are asked for.
    A `writable` server adds documents to the library, and removes those it has added.
    """
    state = State(served, limits or Limits(), trained, writable)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        state.open()
        adopting = asyncio.create_task(adopt(state))
        yield
        adopting.cancel()
        await state.rankers.close()
        await asyncio.to_thread(state.close)

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
    routes = APIRouter(prefix=API, responses=mistakes(401, 403, 421))
    for part in (library, documents, map, uploads, rank, compare):
        routes.include_router(part.router)
    app.include_router(routes)
    app.include_router(views.router)
    app.include_router(describe.router)
    app.include_router(page_router)
    return app
