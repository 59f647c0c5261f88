"""By which command, from which code, on which machine and with which weights a row was made."""

import hashlib
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from longmatch.lab.store.digests import PACKAGE
from longmatch.matching.matcher import Matcher

PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "scikit-learn")
COMMITS = 500  # that are looked through for a code's


def made(command: str, matcher: Matcher) -> dict[str, Any]:
    """The facts of a row that is made now."""
    return {
        "command": command,
        "commit": commit(),
        "code": package_digest(),
        "machine": machine(),
        "versions": versions(),
        "weights": weights(matcher),
    }


@cache
def machine() -> str:
    """Processor, cores and GPU."""
    import torch

    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{_processor()}, {os.cpu_count()} cores{gpu}, {platform.system()}"


@cache
def versions() -> dict[str, str]:
    """Of Python and the libraries that numbers depend on."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def weights(matcher: Matcher) -> dict[str, Any] | None:
    """Of the network a matcher reads with: its name, a digest, the precision it computes in, and if it was rounded."""
    from longmatch.encoders.backbone import Backbone
    from longmatch.encoders.pretrained import locate
    from longmatch.lab.store.digests import weights_digest

    backbone = getattr(matcher, "backbone", None)
    model = backbone.model if isinstance(backbone, Backbone) else getattr(matcher, "model", None)
    if model is None:
        return None
    place = Path(locate(backbone.name if isinstance(backbone, Backbone) else matcher.name.rpartition("@")[2]))
    file = place / "model.safetensors"
    return {
        "name": _network_name(place),
        "digest": weights_digest(model),
        "precision": _precision(matcher, model),
        "rounded": rounded(file) if file.is_file() else None,
    }


def _precision(matcher: Matcher, model: Any) -> str:
    """A matcher's own, its backbone's, or that of the weights."""
    reader = matcher if hasattr(matcher, "precision") else getattr(matcher, "backbone", None)
    return str(getattr(reader, "precision", next(model.parameters()).dtype)).removeprefix("torch.")


@cache
def rounded(file: Path) -> str | None:
    """The type of 16 bits that all weights in a file fit into without loss, whatever type they are stored in."""
    import torch
    from safetensors import safe_open

    left = ["bfloat16", "float16"]  # the coarser first: what fits into it often fits the other too
    with safe_open(file, framework="pt") as opened:
        for name in opened.keys():  # noqa: SIM118 - not a dict
            tensor = opened.get_tensor(name)
            if tensor.is_floating_point():
                left = [kind for kind in left if torch.equal(tensor, tensor.to(getattr(torch, kind)).to(tensor.dtype))]
            if not left:
                return None
    return left[0]


@cache
def commit() -> str | None:
    """The commit of the code that runs, with a + where the package differs from it; None outside a repository."""
    try:
        changed = _git(PACKAGE, "status", "--porcelain", "--", ".")
        return _git(PACKAGE, "rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


@cache
def package_digest(package: Path = PACKAGE) -> str:
    """Of the package's Python files, by the sums git gives them, so that their commit can be found afterwards."""
    return _digest({path.relative_to(package).as_posix(): _blob(path.read_bytes()) for path in package.rglob("*.py")})


@cache
def commit_of(code: str, package: Path = PACKAGE) -> str | None:
    """The first commit, back from the latest, whose package has this digest; None where this repository has none."""
    try:
        for name in _git(package, "log", f"-{COMMITS}", "--format=%h", "--abbrev=12").split():
            listed = _git(package, "ls-tree", "-r", name, "./").splitlines()
            rows = [line.split(maxsplit=3) for line in listed if line.endswith(".py")]
            if _digest({path: blob for _, _, blob, path in rows}) == code:
                return name
    except (OSError, subprocess.CalledProcessError):
        return None
    return None


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _digest(files: dict[str, str]) -> str:
    lines = "".join(f"{files[path]} {path}\n" for path in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def _network_name(place: Path) -> str:
    from longmatch.encoders.pretrained import DEFAULT_NAME, DEFAULT_PACKAGE

    if DEFAULT_PACKAGE in place.parts:
        return DEFAULT_NAME
    return place.name if place.is_dir() else str(place)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
