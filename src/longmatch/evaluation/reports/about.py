"""On which machine, from which commit and by which command results were made."""

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def write_about(out: Path, command: str) -> dict[str, Any]:
    """Add a command to about.json, beside the results."""
    path = out / "about.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"commands": []}
    commands = [*(c for c in found["commands"] if c != command), command]
    about = {"commands": commands, "machine": machine(), "commit": commit()}
    path.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return about


def machine() -> str:
    """Processor, cores, GPU and the versions that matter."""
    import torch

    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    python = f"Python {platform.python_version()}, torch {torch.__version__}"
    return f"{_processor()}, {os.cpu_count()} cores{gpu}; {platform.system()}, {python}"


def commit() -> str | None:
    """The commit of the code that runs, with a + where files differ from it; None outside a repository."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=here, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
