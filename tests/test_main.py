"""Ctrl-C at any moment: one sentence or silence, and exit status 130."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

COLLECTION = ROOT / "examples" / "collection"
PRESSED_AT_IMPORT = """
import os, signal, sys
from longmatch.__main__ import main
where, *words = sys.argv[1:]
def press(event, arguments):
    if event == "import" and arguments[0] == where:
        os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job inherits that it is ignored
sys.addaudithook(press)
sys.argv = ["longmatch", *words]
main()
"""


def is_quiet(status: int, out: str, said: str) -> bool:
    """Whether nothing was printed but a sentence."""
    return status == 130 and not out and (not said or (said.startswith("longmatch: ") and said.count("\n") == 1))


@pytest.mark.parametrize(
    "module",
    ["longmatch.cli.app", "typer", "rich.progress", "numpy", "tokenizers", "scipy.sparse"],
)
def test_an_interrupt_while_modules_are_imported_gives_no_traceback(module: str) -> None:
    words = ["compare", *sorted(COLLECTION.glob("*.md"))[:2]]
    command = [sys.executable, "-c", PRESSED_AT_IMPORT, module, *map(str, words)]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert is_quiet(ran.returncode, ran.stdout, ran.stderr), ran.stderr


@pytest.mark.parametrize("seconds", [0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0])
def test_an_interrupt_in_the_first_second_gives_no_traceback(seconds: float, tmp_path: Path) -> None:
    program = "from longmatch.__main__ import main; import os; os.write(1, b'.'); main()"
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"  # a background shell ignores it
    command = [sys.executable, "-c", f"{heard}; {program}"]
    command += ["index", str(tmp_path / "library"), str(COLLECTION)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
    assert process.stdout
    process.stdout.read(1)  # Python itself has started
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert is_quiet(process.returncode, out, said), said
