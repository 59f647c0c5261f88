"""A real HTTP server on this machine that speaks the chat completions protocol, well or badly."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What the server sends back: the model's text in the protocol's form, or something else altogether."""

    text: str | None = None
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    wait: float = 0.0  # seconds before anything is sent
    drip: float = 0.0  # seconds between bytes
    message: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, int] | None = field(default_factory=lambda: {"prompt_tokens": 100, "completion_tokens": 7})

    def content(self) -> bytes:
        if self.body is not None:
            return self.body
        message = {"role": "assistant", "content": self.text} | self.message
        return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], "usage": self.usage}).encode()


Reply = Callable[[str], Answer]  # from the prompt


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


@dataclass
class ChatServer:
    url: str
    requests: list[Received] = field(default_factory=list)
    reply: Reply = lambda prompt: Answer('{"together": true, "score": 80}')

    def answers(self, *answers: Answer) -> None:
        """Give these answers in turn, the last one for ever."""
        waiting = list(answers)
        self.reply = lambda prompt: waiting.pop(0) if len(waiting) > 1 else waiting[0]


@contextmanager
def serve() -> Iterator[ChatServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            received = Received(self.path, dict(self.headers), body)
            chat.requests.append(received)
            answer = chat.reply(received.prompt)
            time.sleep(answer.wait)
            content = answer.content()
            try:
                self.send_response(answer.status)
                for name, value in {"Content-Length": str(len(content)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                for start in range(0, len(content), 1 if answer.drip else max(1, len(content))):
                    self.wfile.write(content[start:] if not answer.drip else content[start : start + 1])
                    time.sleep(answer.drip)
            except OSError:
                pass  # the client has given up

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    chat = ChatServer(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
