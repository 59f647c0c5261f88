"""The application: the interface's routes over one library, its safety, and the page; and the server under it.

That is uvicorn, with limits on how long a connection may let others wait.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from longmatch.library.library import Library
from longmatch.web import describe
from longmatch.web.limits import Limits
from longmatch.web.page.routes import page_router
from longmatch.web.problems import answer_with_sentences
from longmatch.web.routes import API, router, views
from longmatch.web.security import Guard
from longmatch.web.state import State

GRACE = 5  # seconds that answers under way may take once the server is to end
CLOSING = 2  # as many connections as there may be, once more: those that made room may still be ending


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
        adopting = asyncio.create_task(state.additions.adopt()) if state.additions else None
        yield
        if adopting:
            adopting.cancel()
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
    for routes in (router, views, describe.router, page_router):
        app.include_router(routes)
    return app


class TimedConnection(H11Protocol):
    """A connection that is closed if no whole head of a request comes in time.

    Where there are too many connections, the one that has sent the least for the longest time makes room, so that
    whoever asks is answered however many only hold the line.
    """

    _since = 0.0  # when it began to wait for a head
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head, and make room where there are too many."""
        super().connection_made(transport)
        self._wait_for_head()
        timed = (one for one in self.connections if isinstance(one, TimedConnection))
        opened = {one for one in timed if not one.transport.is_closing()}
        if self.limit_concurrency is not None and len(opened) >= self.limit_concurrency // CLOSING:
            # those whose turn it is: to send a head, or the rest of a body
            waiting = [one for one in opened - {self} if not one.has_head or one.cycle.more_body]
            if waiting:
                min(waiting, key=lambda one: (one.has_head, one._since)).transport.abort()

    def on_response_complete(self) -> None:
        """Begin to wait for the next head."""
        self._wait_for_head()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        super().connection_lost(exc)
        if self._limit is not None:
            self._limit.cancel()

    @property
    def has_head(self) -> bool:
        """Whether a request has begun that is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_head(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
        self._since = self.loop.time()
        self._limit = self.loop.call_later(self.timeout_keep_alive, self._close_without_head)

    def _close_without_head(self) -> None:
        if not self.has_head:
            self.transport.abort()


def server_of(app: Any) -> uvicorn.Server:
    """A server for an application of `create_app`, under its limits."""
    limits = app.state.longmatch.limits
    settings = uvicorn.Config(
        app,
        http=TimedConnection,
        log_level="warning",
        access_log=False,  # who read what is nobody's business
        server_header=False,
        ws="none",
        limit_concurrency=CLOSING * limits.connections,
        timeout_keep_alive=limits.head_seconds,
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(settings)
