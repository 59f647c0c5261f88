"""What several benchmarks share: documents to measure with, sizes, memory, and figures from processes of their own."""

import json
import subprocess
import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from longmatch.documents.document import Document
from longmatch.documents.jsonl import numbered_lines, parse_line
from longmatch.lab.datasets.collection import DataFolder

EXAMPLES = Path(__file__).parents[1] / "examples"
COLLECTION = EXAMPLES / "collection"


def spread_documents(place: Path, count: int) -> list[Document]:
    """So many documents, or all there are, of a data folder or a JSON Lines file, at even distances."""
    file = DataFolder(place).documents_file if place.is_dir() else place
    every = max(1, sum(1 for _ in numbered_lines(file)) // count)
    chosen = islice(numbered_lines(file), 0, every * count, every)  # the others are not taken apart
    return [document for number, line in chosen if (document := parse_line(line, file, number))]


def bytes_on_disk(folder: Path) -> int:
    """Of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def memory_of(process: int | str = "self", key: str = "RssAnon") -> int:
    """Bytes a process holds for itself, without mapped files; by VmHWM the most it has held, with them."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(key)), 0)


def in_own_process(module: str, *words: object, environment: Mapping[str, str] | None = None) -> Any:
    """What a module prints last, as JSON, when it is run with some words in a process of its own."""
    command = [sys.executable, "-m", module, *map(str, words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])
