"""The parent's side of reading an upload: start the reader, wait a bounded time, take its word with care."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from math import ceil
from pathlib import Path

from longmatch.documents.document import Document
from longmatch.documents.read import UPLOAD_SUFFIXES
from longmatch.web.limits import Limits
from longmatch.web.problems import Problem
from longmatch.web.reading.wire import from_json

KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "PYTHONPATH", "VIRTUAL_ENV")  # of the environment; no secrets go along


def read_apart(content: bytes, name: str, limits: Limits, suffix: str | None = None) -> Document:
    """Read a file's content under limits; a Problem says in a sentence why it cannot be.

    The content lies in a private folder, under a name of our own, for as long as the reader runs. `suffix` says what
    it is, where the name does not.
    """
    shown = _shown(name)
    if not content:
        raise Problem(422, f"{shown} is empty. Upload a document with text in it.")
    with tempfile.TemporaryDirectory(prefix="longmatch-upload-") as folder:
        file = Path(folder) / f"upload{suffix or _suffix(shown)}"
        file.write_bytes(content)
        said = _run(file, shown, limits)
    return _document(said, shown)


def _run(file: Path, shown: str, limits: Limits) -> str:
    seconds = max(1, ceil(limits.reading_seconds))
    command = [sys.executable, "-m", "longmatch.web.reading.child", file, shown, str(seconds), limits.reading_memory]
    environment = {name: os.environ[name] for name in KEPT if name in os.environ} | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment | {"PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True,
    ) as reader:
        try:
            said, _ = reader.communicate(timeout=limits.reading_seconds)
        except subprocess.TimeoutExpired:
            _kill(reader)
            raise Problem(
                422, f"{shown} took longer than {limits.reading_seconds:g} seconds to read. Upload a smaller one."
            ) from None
        finally:
            _kill(reader)
    if reader.returncode == -signal.SIGXCPU:
        raise Problem(422, f"{shown} took longer than {seconds} seconds to read. Upload a smaller one.")
    if reader.returncode != 0:
        raise Problem(422, f"{shown} made its reader fail. It is damaged, or needs more memory than an upload may.")
    return said.decode("utf-8", "replace")


def _kill(reader: "subprocess.Popen[bytes]") -> None:
    """End the reader and all it may have started."""
    if reader.poll() is None:
        if hasattr(os, "killpg"):
            os.killpg(reader.pid, signal.SIGKILL)
        else:
            reader.kill()
        reader.wait()


def _document(said: str, shown: str) -> Document:
    try:
        found = json.loads(said)
        if "document" in found:
            return from_json(found["document"])
        sentence = f"{shown} {found['problem']}. {found['advice']}"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Problem(422, f"{shown} made its reader fail. It is damaged; leave it out.") from error
    raise Problem(422, sentence)


def _suffix(name: str) -> str:
    """The suffix that says which reader to take, from a closed list."""
    known = [suffix for suffix in UPLOAD_SUFFIXES if name.lower().endswith(suffix)]
    if not known:
        kinds = ", ".join(UPLOAD_SUFFIXES)
        raise Problem(415, f"{name} is of a kind that longmatch does not read. The kinds it reads are {kinds}.")
    return max(known, key=len)


def _shown(name: str) -> str:
    """A file's name without folders and control characters, not too long."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    clean = "".join(c for c in last if c.isprintable()).strip()
    return clean[-200:] or "the upload"
