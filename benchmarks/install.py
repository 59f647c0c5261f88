"""From nothing to the demo's answer, beside `pip install sentence-transformers`: seconds and bytes.

    python -m benchmarks.install [--into FOLDER]

Both are done in fresh folders with fresh virtual environments, one after the other: a clone of this repository and
`make demo`; and an empty environment into which pip installs sentence-transformers, as its documentation says. Packages
come from wherever pip is set up to take them, without its cache.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

REPOSITORY = Path(__file__).parents[1]


def size(folder: Path) -> int:
    """Bytes on disk of all files, each counted once."""
    return sum(file.lstat().st_blocks * 512 for file in folder.rglob("*") if not file.is_symlink())


def timed(*commands: list[str], folder: Path) -> float:
    """Seconds that some commands take, one after another."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL", "PYTHON"))}
    environment |= {"PIP_NO_CACHE_DIR": "1", "XDG_CACHE_HOME": str(folder / "cache")}
    start = time.perf_counter()
    for command in commands:
        subprocess.run(command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, help="the folder in which both are made; a temporary one by default")
    options = parser.parse_args()
    python = shutil.which("python3") or sys.executable
    with TemporaryDirectory(dir=options.into) as name:
        ours, theirs = Path(name) / "ours", Path(name) / "theirs"
        theirs.mkdir()
        subprocess.run(["git", "clone", "-q", str(REPOSITORY), str(ours)], check=True)
        install = ["venv/bin/python", "-m", "pip", "install", "-q", "sentence-transformers"]
        rows = {
            "make demo": (timed(["make", "demo"], folder=ours), size(ours)),
            "pip install sentence-transformers": (
                timed([python, "-m", "venv", "venv"], install, folder=theirs),
                size(theirs),
            ),
        }
        table = Table("", "seconds", "GB", "share of the time", "share of the disk")
        longest, largest = rows["pip install sentence-transformers"]
        for label, (seconds, disk) in rows.items():
            shares = f"{seconds / longest:.2f}", f"{disk / largest:.2f}"
            table.add_row(label, f"{seconds:.0f}", f"{disk / 1e9:.2f}", *shares)
        Console().print(table)


if __name__ == "__main__":
    main()
