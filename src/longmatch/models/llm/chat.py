"""One question to a chat completions server: a time limit, retries, and errors that quote nothing."""

import json
import os
import random
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, responses
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

from longmatch.errors import LongmatchError

URL, MODEL, KEY = "LONGMATCH_LLM_URL", "LONGMATCH_LLM_MODEL", "LONGMATCH_LLM_KEY"  # environment variables
ENDPOINT = "/chat/completions"
TRANSIENT = frozenset((408, 409, 425, 429))  # and every 5xx: worth another try
REJECTED = frozenset((400, 413, 422))
LONGEST_WAIT = 60.0  # seconds, whatever a server asks for
LARGEST_REPLY = 4_000_000  # bytes


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
        key = (key or "").strip()
        if not key.isascii() or not key.isprintable():  # it has to fit into a header; errors never quote it
            raise LongmatchError(f"{KEY} holds characters that no key has. Copy it again.")
        return ModelAddress(endpoint(url.strip()), model, key or None)

    @property
    def parts(self) -> SplitResult:
        """The address, split."""
        return urlsplit(self.url)

    @property
    def shown(self) -> str:
        """Scheme, host and port, for messages: a path or a query may hold secrets."""
        return f"{self.parts.scheme}://{self.parts.netloc}"

    def request(self, messages: list[dict[str, str]], answer_tokens: int) -> dict[str, Any]:
        """The body of a request: the most likely answer, and not a long one."""
        return {"model": self.model, "messages": messages, "temperature": 0, "max_tokens": answer_tokens}


@dataclass(frozen=True)
class Reply:
    """What the server returned: the text of the answer, empty where there is none, and the tokens it counted."""

    text: str = ""
    refused: bool = False  # by the server's own account
    prompt_tokens: int = 0
    answer_tokens: int = 0


class ChatError(Exception):
    """A question that got no reply. The message holds neither documents nor the key."""


class RejectedRequest(ChatError):
    """One that the server rejects, as it does a prompt that is too long; it may answer others."""


class _Transient(ChatError):
    """One that is worth another try."""

    def __init__(self, problem: str, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait  # seconds, where the server says


@dataclass(frozen=True)
class Chat:
    """Asks one model. Requests go straight to the address: no proxy is used, no redirect followed."""

    address: ModelAddress
    timeout: float = 60.0  # seconds for one try, from connecting to the last byte
    retries: int = 3
    backoff: float = 1.0  # seconds before the first retry, doubled each time

    def ask(self, request: dict[str, Any]) -> Reply:
        """The reply to a request; ChatError if there is none, LongmatchError if no other request would fare better."""
        body = json.dumps(request).encode()
        for attempt in range(self.retries + 1):
            try:
                return parse_reply(self._post(body))
            except _Transient as problem:
                if attempt == self.retries:
                    raise ChatError(str(problem)) from None
                pause = self.backoff * 2**attempt * random.uniform(0.75, 1.25)  # so that clients do not return at once
                time.sleep(min(LONGEST_WAIT, pause if problem.wait is None else problem.wait))
        raise AssertionError("a loop over at least one attempt")

    def _post(self, body: bytes) -> bytes:
        deadline = time.monotonic() + self.timeout
        parts, key = self.address.parts, self.address.key
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "longmatch"}
        headers |= {"Authorization": f"Bearer {key}"} if key else {}
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.timeout)
        try:
            connection.request("POST", parts.path + (f"?{parts.query}" if parts.query else ""), body, headers)
            response = connection.getresponse()
            if 200 <= (status := response.status) < 300:
                return _read(response, deadline)
            # the body of an error may quote the request, so only the status is reported
            problem = f"status {status}, {responses.get(status, 'unknown')}"
            if status in TRANSIENT or status >= 500:
                wait = response.getheader("Retry-After", "").strip()
                raise _Transient(problem, float(wait) if wait.isdecimal() else None)  # a date is not understood
            if status in REJECTED:
                raise RejectedRequest(problem)
            checks = {401: KEY, 403: KEY, 404: f"{URL} and {MODEL}"}
            raise LongmatchError(
                f"The language model at {self.address.shown} cannot be asked ({problem}). "
                f"Check {checks.get(status, URL)}."
            )
        except ConnectionRefusedError:
            raise LongmatchError(
                f"No language model is served at {self.address.shown}: the connection was refused. "
                f"Start the server, or check {URL}."
            ) from None
        except TimeoutError:
            raise _Transient(f"no answer within {self.timeout:g} seconds") from None
        except (OSError, UnicodeError) as error:  # UnicodeError: the host name is invalid
            raise _Transient(f"cannot be reached: {getattr(error, 'strerror', None) or type(error).__name__}") from None
        except HTTPException as error:
            raise _Transient(f"broke off: {type(error).__name__}") from None
        finally:
            connection.close()


def parse_reply(body: bytes) -> Reply:
    """The reply in a response's body; an empty one if it is not in the form of the protocol.

    >>> parse_reply(b'{"choices": [{"message": {"content": "85"}}], "usage": {"prompt_tokens": 7}}')
    Reply(text='85', refused=False, prompt_tokens=7, answer_tokens=0)
    >>> parse_reply(b"<html>")
    Reply(text='', refused=False, prompt_tokens=0, answer_tokens=0)
    """
    try:
        found = json.loads(body)
        choice = found["choices"][0]
        message, usage = choice["message"], found.get("usage")
        content = message.get("content")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return Reply()
    if isinstance(content, list):  # of parts
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    counts = usage if isinstance(usage, dict) else {}
    counted = [counts.get(name) for name in ("prompt_tokens", "completion_tokens")]
    prompt_tokens, answer_tokens = (value if type(value) is int and value > 0 else 0 for value in counted)
    return Reply(
        text=content if isinstance(content, str) else "",
        refused=bool(message.get("refusal")) or choice.get("finish_reason") == "content_filter",
        prompt_tokens=prompt_tokens,
        answer_tokens=answer_tokens,
    )


def _read(response: HTTPResponse, deadline: float) -> bytes:
    """The whole body; a server that sends a byte now and then has no more time than any other."""
    body = bytearray()
    while part := response.read1(65536):
        body += part
        if time.monotonic() > deadline:
            raise TimeoutError
        if len(body) > LARGEST_REPLY:
            raise ChatError("an answer that does not end")
    if response.length:  # `read1` does not raise on a truncated body
        raise _Transient("broke off")
    return bytes(body)


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
