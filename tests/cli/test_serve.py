"""`longmatch serve` as the user runs it."""

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from .. import forked


@contextmanager
def serving(place: Path, *arguments: object) -> Iterator[tuple[str, Any]]:
    """The address that a fresh process prints, and the process."""
    said = [place / "out", place / "err"]
    process = forked.start(forked.longmatch, "serve", *arguments, "--port", 0, "--no-open", out=said[0], err=said[1])
    try:
        while not (said[0].exists() and "\n" in said[0].read_text()):
            assert process.is_alive(), said[1].read_text()
            time.sleep(0.05)
        shown = said[0].read_text().splitlines()[0]
        assert "longmatch shows" in shown
        yield shown.split(" at ")[-1].strip(), process
    finally:
        os.kill(process.pid, signal.SIGINT)
        process.join(20)
        process.complaints = said[1].read_text()


def test_a_folder_of_documents_is_indexed_and_served_until_ctrl_c(folder, tmp_path):
    with serving(tmp_path, folder) as (address, process):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        assert httpx.get(address).headers["content-type"].startswith("text/html")
        hits = httpx.get(f"{address}api/v1/rank", params={"document": "queue.txt"}, timeout=60).json()["hits"]
        assert {hit["id"] for hit in hits[:2]} == {"bank.md", "ledger.html"}
    assert (process.exitcode, process.complaints) == (0, "")


def test_another_address_than_this_computers_own_gets_a_token(folder, tmp_path):
    with serving(tmp_path, folder, "--host", "0.0.0.0") as (address, _):
        place, token = address.split("#token=")
        own = re.sub(r"//[^:]+:", "//127.0.0.1:", place)
        assert len(token) >= 32
        assert httpx.get(f"{own}api/v1/documents").status_code == 401
        headers = {"authorization": f"Bearer {token}"}
        assert httpx.get(f"{own}api/v1/documents", headers=headers).json()["total"] == 5


def test_a_port_that_is_taken_is_said_before_anything_is_read(longmatch, folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert longmatch("serve", folder, "--port", port).complaint.startswith(
            f"Port {port} of 127.0.0.1 cannot be used"
        )
    assert not (folder / ".longmatch").exists()


def test_a_short_token_is_refused(longmatch, folder):
    assert longmatch("serve", folder, "--token", "short").complaint.startswith("The token is too short")


@pytest.mark.parametrize("name", ["nowhere", "queue.txt"])
def test_what_is_no_folder_is_said_in_a_sentence(longmatch, folder, name):
    complaint = longmatch("serve", folder / name, "--port", 0).complaint
    assert complaint.endswith("is no folder. Name a library, or a folder of documents.")


def test_an_address_of_another_computer_is_said_in_a_sentence(longmatch, folder):
    assert "cannot be used" in longmatch("serve", folder, "--host", "203.0.113.7").complaint


def test_a_model_that_does_not_exist_is_said_before_anything_is_read(longmatch, folder, tmp_path):
    said = longmatch("serve", folder, "--no-open", "--model", tmp_path / "none").complaint
    assert said.startswith(f"There is no model {tmp_path / 'none'}.") and not (folder / ".longmatch").exists()
