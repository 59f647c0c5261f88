"""The server under the application: uvicorn, with limits on how long a connection may let others wait."""

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

GRACE = 5  # seconds that answers under way may take once the server is to end


class TimedConnection(H11Protocol):
    """A connection that is closed if no whole head of a request comes in time.

    Where there are too many connections, the one that has sent the least for the longest time makes room, so that
    whoever asks is answered however many only hold the line.
    """

    _since = 0.0  # when it began to wait for a head
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._wait_for_head()
        self._make_room()

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

    @property
    def keeps_waiting(self) -> bool:
        """Whether it is the client's turn: to send a head, or the rest of a body."""
        return not self.has_head or self.cycle.more_body

    @property
    def _is_open(self) -> bool:
        return not self.transport.is_closing()

    def _wait_for_head(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
        self._since = self.loop.time()
        self._limit = self.loop.call_later(self.timeout_keep_alive, self._close_without_head)

    def _close_without_head(self) -> None:
        if not self.has_head:
            self.transport.abort()

    def _make_room(self) -> None:
        opened = {one for one in self.connections if isinstance(one, TimedConnection) and one._is_open}
        if self.limit_concurrency is not None and len(opened) >= self.limit_concurrency:
            waiting = [one for one in opened - {self} if one.keeps_waiting]
            if waiting:
                min(waiting, key=lambda one: (one.has_head, one._since)).transport.abort()


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
        limit_concurrency=limits.connections,
        timeout_keep_alive=limits.head_seconds,
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(settings)
