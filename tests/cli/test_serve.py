"""`longmatch serve` as the user runs it."""

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest


@contextmanager
def serving(*arguments: object) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The address that a fresh process prints, and the process."""
    command = [sys.executable, "-m", "longmatch", "serve", *map(str, arguments), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = process.stdout.readline()
            assert "longmatch shows" in said, process.stderr.read()
            yield said.split(" at ")[-1].strip(), process
        finally:
            process.send_signal(signal.SIGINT)
            _, process.complaints = process.communicate(timeout=20)


def test_a_folder_of_documents_is_indexed_and_served_until_ctrl_c(folder):
    with serving(folder) as (address, process):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        assert httpx.get(address).headers["content-type"].startswith("text/html")
        hits = httpx.get(f"{address}api/v1/rank", params={"document": "queue.txt"}, timeout=60).json()["hits"]
        assert {hit["id"] for hit in hits[:2]} == {"bank.md", "ledger.html"}
    assert (process.returncode, process.complaints) == (0, "")


def test_another_address_than_this_computers_own_gets_a_token(folder):
    with serving(folder, "--host", "0.0.0.0") as (address, _):
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
