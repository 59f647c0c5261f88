"""Who may ask: the host check, the origin check, the token; and the headers every answer carries.

A page of another site, open in the same browser, must not reach a server on this computer. It could try by a name that
it lets point here (DNS rebinding: the Host header then is not one of ours), or by sending a form (then Origin or
Sec-Fetch-Site say where it comes from).
"""

import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longmatch.web.limits import Limits

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
HANG_UP = {"Connection": "close"}  # the rest of a body that is too long is not waited for
SLACK = 1 << 16  # bytes of a form around its file


class Guard:
    """Stands before every route."""

    def __init__(self, app: ASGIApp, *, token: str | None, limits: Limits, hosts: frozenset[str] | None = None) -> None:
        self._app, self._token, self._most = app, token, limits.upload_bytes + SLACK
        self._hosts = LOOPBACK if hosts is None else hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or let pass with a bounded body and with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        guarded = _with_headers(send, scope["path"])
        refusal = self._refusal(scope["path"], headers)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        await self._app(scope, self._bounded(receive), guarded)

    def _refusal(self, path: str, headers: Headers) -> JSONResponse | None:
        host = _name(headers.get("host", ""))
        if "*" not in self._hosts and host not in self._hosts:
            return _no(421, "This server is not called by that name. Use the address that longmatch serve printed.")
        if path.startswith("/api/") and _is_foreign(headers):
            return _no(403, "Another site may not ask this server.")
        if self._token is not None and path.startswith("/api/") and path not in OPEN and not self._knows(headers):
            return _no(401, "This server wants its token: Authorization: Bearer TOKEN.", {"WWW-Authenticate": "Bearer"})
        if _length(headers) > self._most:
            return _no(413, self._too_large(), HANG_UP)
        return None

    def _knows(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        known = (self._token or "").encode()
        return kind.lower() == "bearer" and secrets.compare_digest(given.strip().encode("utf-8", "replace"), known)

    def _bounded(self, receive: Receive) -> Receive:
        """A body whose length was not announced is cut off where it becomes too long."""
        seen = 0

        async def bounded() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._most:
                raise HTTPException(413, self._too_large(), HANG_UP)
            return message

        return bounded

    def _too_large(self) -> str:
        return f"This is more than the {(self._most - SLACK) / 1e6:,.0f} MB that may be uploaded."


def _with_headers(send: Send, path: str) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            found = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                found[name] = value
            if path.startswith("/api/"):
                found["Cache-Control"] = "no-store"
        await send(message)

    return guarded


def _no(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": sentence}, status, headers)


def _name(host: str) -> str:
    """A Host header without its port.

    >>> _name("LOCALHOST:8642"), _name("[::1]:8642")
    ('localhost', '[::1]')
    """
    bare = host.strip().lower()
    return bare[: bare.find("]") + 1] if bare.startswith("[") else bare.partition(":")[0]


def _is_foreign(headers: Headers) -> bool:
    """Whether a browser sends this for a page of another origin."""
    if headers.get("sec-fetch-site", "") in ("cross-site", "same-site"):
        return True
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").strip().lower()


def _length(headers: Headers) -> int:
    try:
        return int(headers.get("content-length", "0"))
    except ValueError:
        return 0
