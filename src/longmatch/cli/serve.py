"""`longmatch serve`: a local page and a REST interface over a library."""

import ipaddress
import os
import secrets
import socket
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from longmatch.cli.library import open_library
from longmatch.cli.output import echo, warn
from longmatch.cli.progress import progress
from longmatch.errors import LongmatchError

SHORTEST = 16  # characters of a token


def serve(
    library: Annotated[str, typer.Argument(help="A library, or a folder of documents.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 picks a free one.")] = 8642,
    host: Annotated[str, typer.Option(help="Address to listen on; any but the local one requires a token.")] = (
        "127.0.0.1"
    ),
    token: Annotated[
        str | None,
        typer.Option(envvar="LONGMATCH_TOKEN", help="Access token; generated if one is required."),
    ] = None,
    open_page: Annotated[
        bool | None,
        typer.Option("--open/--no-open", help="Open the page in a browser; by default from a terminal."),
    ] = None,
    model: Annotated[
        list[Path] | None, typer.Option("--model", "-m", help="Folder of a trained model to offer as well.")
    ] = None,
    writable: Annotated[
        bool, typer.Option("--writable", help="Let people add documents to the library, and remove those they added.")
    ] = False,
) -> None:
    """Open a local page to search a library, compare documents and see why they match; with a REST interface."""
    from longmatch.models.loading import check_trained

    if not all(find_spec(name) for name in ("fastapi", "uvicorn", "python_multipart")):
        raise LongmatchError("The page needs some more libraries. Install them: pip install 'longmatch[web]'.")
    for folder in model or []:
        check_trained(folder)
    loopback = is_loopback(host)
    if token is not None and len(token) < SHORTEST:
        raise LongmatchError(f"The token is too short to be safe. Take {SHORTEST} characters or more, or none.")
    if not loopback and token is None:
        token = secrets.token_urlsafe(24)
    try:  # before anything slow, so that a taken port is said at once
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise LongmatchError(f"Port {port} of {host} cannot be used ({reason}). Name another with --port.") from error
    with listening:
        opened, _ = open_library(library)
        if opened is None:
            raise LongmatchError(f"{library} is no folder. Name a library, or a folder of documents.")
        if writable and "://" in opened.address:
            raise LongmatchError("--writable needs a library in a folder of this computer. Leave it out.")
        if writable and not os.access(opened.address, os.W_OK):
            problem = f"{opened.address} cannot be written."
            raise LongmatchError(f"{problem} Leave out --writable, or change its permissions.")
        with progress("starting"):
            from longmatch.web.app import create_app, server_of
            from longmatch.web.security import LOOPBACK

            named = f"[{host}]" if ":" in host else host.lower()
            hosts = LOOPBACK | {named} if loopback else frozenset({"*"})
            trained = {path.name: path for path in model or []}
            server = server_of(create_app(opened, token=token, hosts=hosts, trained=trained, writable=writable))
        address = _address(host, listening.getsockname()[1], token)
        echo(f"longmatch shows {library} at {address}\nStop it with Ctrl+C.")
        if not loopback:
            warn("Others can reach this address. The token goes over the network unencrypted.")
        sys.stdout.flush()
        if sys.stdout.isatty() if open_page is None else open_page:
            threading.Thread(target=_open_when_started, args=(server, address), daemon=True).start()
        with suppress(KeyboardInterrupt):  # the way to stop it, so no failure
            server.run(sockets=[listening])


def is_loopback(host: str) -> bool:
    """Whether only this computer can reach an address.

    >>> is_loopback("localhost"), is_loopback("127.0.0.2"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _address(host: str, port: int, token: str | None) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    shown = f"[{shown}]" if ":" in shown else shown
    return f"http://{shown}:{port}/" + (f"#token={token}" if token else "")


def _open_when_started(server: Any, address: str) -> None:
    while not server.started and not server.should_exit:
        time.sleep(0.05)
    webbrowser.open(address)
