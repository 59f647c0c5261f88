"""The site builds without a warning and loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import COPIED, DOCS, ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Built as `make docs` does."""
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0 and "WARNING" not in built.stderr, built.stderr
    return folder


def test_every_page_is_built_and_loads_nothing_from_elsewhere(site):
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} | COPIED
    for name in written:
        page = (site / name.removesuffix(".md")).with_suffix(".html").read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?([^\"> ]+)", page)
        assert not [address for address in loaded if re.match(r"(https?:)?//", address)], name


def test_the_reference_names_every_command_public_name_and_route(site):
    from longmatch.addresses import COMMANDS, PUBLIC

    pages = {path.stem: path.read_text(encoding="utf-8") for path in (site / "reference").glob("*.html")}
    assert all(f'id="longmatch-{name}' in pages["commands"] for name in ("rank", "compare", "serve", *COMMANDS))
    assert all(f'id="{address.replace(":", ".")}"' in pages["python"] for address in PUBLIC.values())
    assert "GET /api/v1/rank" in pages["rest"]
