"""Who may ask: the host check, the origin check, the token; and the headers every answer carries.

A page of another site, open in the same browser, must not reach a server on this computer. It could try by a name that
it lets point here (DNS rebinding: the Host header then is not one of ours), or by sending a form (then Origin or
Sec-Fetch-Site say where it comes from).
"""

import asyncio
import re
import secrets
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longmatch.web.limits import MB, Limits
from longmatch.web.problems import STOPPING

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
OPEN = ("/api/v1/openapi.json",)  # what needs no token: the description, and everything outside /api
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types longmatch",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:@/\[\]]+)(?::[0-9]{1,5})?")
HANG_UP = {"Connection": "close"}  # the rest of a body that is too long is not waited for
LATE = "The request did not come whole in time. Send it again."
SLACK = 1 << 16  # bytes of a form around its file


class Guard:
    """Stands before every route."""

    def __init__(self, app: ASGIApp, *, token: str | None, limits: Limits, hosts: frozenset[str] | None = None) -> None:
        self._app, self._token, self._limits = app, token, limits
        self._hosts = LOOPBACK if hosts is None else hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or let pass with a bounded body and with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        guarded = _Answer(send, scope["path"])
        refusal = self._refusal(scope["path"], headers)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        body = _Body(receive, self._limits)
        try:
            await self._app(scope, body, guarded)
        except asyncio.CancelledError:  # the server stops
            if guarded.has_begun:
                raise
            answer = _no(503, STOPPING) if body.is_whole else _no(408, LATE, HANG_UP)
            await answer(scope, receive, guarded)

    def _refusal(self, path: str, headers: Headers) -> JSONResponse | None:
        if "*" not in self._hosts and _name(headers.getlist("host")) not in self._hosts:
            return _no(421, "This server is not called by that name. Use the address that longmatch serve printed.")
        if path.startswith("/api/") and _is_foreign(headers):
            return _no(403, "Another site may not ask this server.")
        if self._token is not None and path.startswith("/api/") and path not in OPEN:
            kind, _, given = headers.get("authorization", "").partition(" ")
            same = secrets.compare_digest(given.strip().encode("utf-8", "replace"), self._token.encode())
            if kind.lower() != "bearer" or not same:
                sentence = "This server wants its token: Authorization: Bearer TOKEN."
                return _no(401, sentence, {"WWW-Authenticate": "Bearer"})
        try:
            length = int(headers.get("content-length", "0"))
        except ValueError:
            length = 0
        if length > self._limits.upload_bytes + SLACK:
            return _no(413, too_large(self._limits), HANG_UP)
        return None


class _Body:
    """What an application receives of a request: a bounded length, in a bounded time."""

    def __init__(self, receive: Receive, limits: Limits) -> None:
        self._receive, self._limits = receive, limits
        self._since = asyncio.get_running_loop().time()
        self._seen = 0
        self.is_whole = False

    async def __call__(self) -> Message:
        """The next part. What is too long, comes too slowly or ends too early is refused there."""
        if self.is_whole:
            return await self._receive()
        end = self._since + self._limits.body_seconds + self._seen / self._limits.body_speed
        try:
            async with asyncio.timeout_at(end):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, LATE, HANG_UP) from None
        if message["type"] == "http.disconnect":
            raise HTTPException(400, LATE)  # to nobody
        self._seen += len(message.get("body", b""))
        if self._seen > self._limits.upload_bytes + SLACK:
            raise HTTPException(413, too_large(self._limits), HANG_UP)
        self.is_whole = not message.get("more_body", False)
        return message


class _Answer:
    """Sends an answer with the headers that all have."""

    def __init__(self, send: Send, path: str) -> None:
        self._send, self._path = send, path
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        """Send a part of it."""
        if message["type"] == "http.response.start":
            self.has_begun = True
            found = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                found[name] = value
            if self._path.startswith("/api/"):
                found["Cache-Control"] = "no-store"
        await self._send(message)


def too_large(limits: Limits) -> str:
    """Of a body that is longer than an upload may be."""
    return f"This is more than the {limits.upload_bytes / MB:,.0f} MB that may be uploaded."


def _no(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": sentence}, status, headers)


def _name(hosts: Sequence[str]) -> str:
    """The name in the one Host header, without its port; empty if it is anything else than a name and a port.

    >>> _name(["LOCALHOST:8642"]), _name(["[::1]:8642"]), _name(["[::1].example.com"]), _name(["localhost"] * 2)
    ('localhost', '[::1]', '', '')
    """
    found = _HOST.fullmatch(hosts[0].strip().lower()) if len(hosts) == 1 else None
    return found[1] if found else ""


def _is_foreign(headers: Headers) -> bool:
    """Whether a browser sends this for a page of another origin."""
    if {"cross-site", "same-site"} & set(headers.getlist("sec-fetch-site")):
        return True
    own = headers.get("host", "").strip().lower()
    origins = headers.getlist("origin")
    return len(origins) > 1 or any(urlsplit(origin).netloc.lower() != own for origin in origins)
