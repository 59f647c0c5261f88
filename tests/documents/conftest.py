"""Documents from content written in the test."""

from collections.abc import Callable
from pathlib import Path

import pytest

from longmatch.documents import Document, read

Opener = Callable[[str, str | bytes], Document]


@pytest.fixture
def opened(tmp_path: Path) -> Opener:
    """Save content under a name and read it as a document."""

    def open_(name: str, content: str | bytes) -> Document:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path)

    return open_
