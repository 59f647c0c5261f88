"""Folders that may not be entered, files that may not be read: one sentence, and the others are still read."""

import os
import shutil
import subprocess
import sys

import pytest

UNPRIVILEGED = ["setpriv", "--inh-caps=-all", "--bounding-set=-dac_override,-dac_read_search"]  # root obeys the modes

pytestmark = pytest.mark.skipif(
    not hasattr(os, "geteuid") or (os.geteuid() == 0 and not shutil.which("setpriv")), reason="modes cannot be tested"
)


@pytest.fixture
def closed(folder):
    """A folder with a document, below one that may not be entered."""
    place = folder.parent / "closed" / "inside"
    shutil.copytree(folder, place)
    place.parent.chmod(0)
    yield place
    place.parent.chmod(0o755)


def run(*arguments: object) -> tuple[int, str]:
    command = [*(UNPRIVILEGED if os.geteuid() == 0 else []), sys.executable, "-m", "longmatch", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_whatever_lies_below_a_closed_folder_is_named_in_one_sentence(folder, closed):
    document, good = closed / "bank.md", folder / "bank.md"
    for arguments in (
        ("read", document),
        ("compare", good, document),
        ("rank", document, folder, "-m", "tfidf"),
        ("rank", good, closed, "-m", "tfidf"),
        ("show", closed),
    ):
        code, said = run(*arguments)
        assert code == 2 and said.count("\n") == 1 and f"{closed}" in said and "cannot be reached" in said


def test_the_other_files_are_indexed_and_nothing_below_a_closed_folder_is_pruned(longmatch, folder, closed, tmp_path):
    library = tmp_path / "library"
    closed.parent.chmod(0o755)
    assert longmatch("index", library, closed).code == 0
    closed.parent.chmod(0)
    code, said = run("index", library, closed, folder, "--prune")
    assert code == 0 and said.count("cannot be reached") == 1 and f"{closed} cannot be reached" in said
    kept = longmatch("show", library).out
    assert kept.count("snow.txt") == 2, kept


def test_a_word_file_that_may_not_be_read_is_named(tmp_path):
    file = tmp_path / "a.docx"
    file.write_bytes(b"PK\x03\x04")
    file.chmod(0)
    assert run("read", file) == (
        2,
        f"longmatch: {file} cannot be opened (Permission denied). Check its permissions.\n",
    )
