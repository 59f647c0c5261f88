"""Where a language model is served, and what it takes to call it."""

import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

from longmatch.errors import LongmatchError

URL, MODEL, KEY = "LONGMATCH_LLM_URL", "LONGMATCH_LLM_MODEL", "LONGMATCH_LLM_KEY"  # environment variables
ENDPOINT = "/chat/completions"


@dataclass(frozen=True)
class ModelAddress:
    """A chat completions address and the name of a model there; the key is never shown."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)

    @staticmethod
    def of(url: str | None = None, model: str | None = None, key: str | None = None) -> "ModelAddress":
        """From arguments; what is left out comes from the environment.

        A key of the environment belongs to the address of the environment: another address does not get it.
        """
        if not url:
            url, key = os.environ.get(URL, ""), key or os.environ.get(KEY)
        model = (model or os.environ.get(MODEL, "")).strip()
        if not url.strip():
            raise LongmatchError(
                f"The model llm asks a language model, and no address is given, so nothing was sent. Set {URL}, as in "
                "http://localhost:11434/v1."
            )
        if not model:
            raise LongmatchError(f"The model llm needs the name of a language model. Set {MODEL}, or name llm@MODEL.")
        return ModelAddress(endpoint(url.strip()), model, _checked(key))

    @property
    def parts(self) -> SplitResult:
        """The address, split."""
        return urlsplit(self.url)

    @property
    def shown(self) -> str:
        """Scheme, host and port, for messages: a path or a query may hold secrets."""
        return f"{self.parts.scheme}://{self.parts.netloc}"

    @property
    def headers(self) -> dict[str, str]:
        """Of every request."""
        plain = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "longmatch"}
        return plain | ({"Authorization": f"Bearer {self.key}"} if self.key else {})

    def request(self, messages: list[dict[str, str]], answer_tokens: int) -> dict[str, Any]:
        """The body of a request: the most likely answer, and not a long one."""
        return {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": answer_tokens}


def endpoint(url: str) -> str:
    """The full address of chat completions, from a server's address or any part of the path.

    >>> endpoint("http://localhost:8080"), endpoint("http://localhost:11434/v1/")
    ('http://localhost:8080/v1/chat/completions', 'http://localhost:11434/v1/chat/completions')
    >>> endpoint("https://host/x/chat/completions?api-version=1")
    'https://host/x/chat/completions?api-version=1'
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or not url.isascii() or not url.isprintable() or " " in url:
        raise LongmatchError(f"{URL} is not an address of the form http://HOST:PORT/v1. Correct it.")
    if "@" in parts.netloc:
        raise LongmatchError(f"{URL} holds a user name or password. Leave it out, and set {KEY} instead.")
    path = parts.path.rstrip("/") or "/v1"
    path = path if path.endswith(ENDPOINT) else path + ENDPOINT
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _checked(key: str | None) -> str | None:
    """A key that fits into a header; errors never quote it."""
    key = (key or "").strip()
    if not key.isascii() or not key.isprintable():
        raise LongmatchError(f"{KEY} holds characters that no key has. Copy it again.")
    return key or None
