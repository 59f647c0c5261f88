"""The provenance of a run: command, code, machine, library versions and weights."""

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
from longmatch.models.registry import declaration_of

PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "scipy", "scikit-learn")
COMMITS = 500  # searched for a code digest


def provenance(command: str, matcher: Matcher) -> dict[str, Any]:
    """The provenance of a run made now by `command`."""
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

    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(named, platform.processor() or platform.machine())
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{processor}, {os.cpu_count()} cores{gpu}, {platform.system()}"


@cache
def versions() -> dict[str, str]:
    """Of Python and the libraries that results depend on."""
    installed = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            continue
    return installed


def weights(matcher: Matcher) -> dict[str, Any] | None:
    """A matcher's network: its name, digest, compute precision, and the 16-bit type its weights were rounded to."""
    from longmatch.encoders.backbone import Backbone
    from longmatch.encoders.pretrained import DEFAULT, DEFAULT_NAME, locate
    from longmatch.lab.store.digests import weights_digest

    backbone = getattr(matcher, "backbone", None)
    model: Any = getattr(matcher, "model", None)
    if model is None and not isinstance(backbone, Backbone):
        return None
    place = Path(locate(backbone.name if isinstance(backbone, Backbone) else matcher.name.rpartition("@")[2]))
    file = place / "model.safetensors"
    name = place.name if place.is_dir() else str(place)
    owner: Any = matcher if hasattr(matcher, "precision") else backbone
    precision = owner.precision if hasattr(owner, "precision") else next(model.parameters()).dtype
    return {
        "name": DEFAULT_NAME if DEFAULT.package in place.parts else name,
        "digest": backbone.network.digest if isinstance(backbone, Backbone) else weights_digest(model),
        "precision": str(precision).removeprefix("torch."),
        "rounded": rounded(file) if file.is_file() else None,
    }


@cache
def rounded(file: Path) -> str | None:
    """The 16-bit type that holds all weights of a file without loss, whatever type they are stored in."""
    import torch
    from safetensors import safe_open

    kinds = ["bfloat16", "float16"]  # the coarser first: what fits it often fits the other too
    with safe_open(file, framework="pt") as opened:
        for name in opened.keys():  # noqa: SIM118 - not a dict
            tensor = opened.get_tensor(name)
            if tensor.is_floating_point():
                kinds = [
                    kind for kind in kinds if torch.equal(tensor, tensor.to(getattr(torch, kind)).to(tensor.dtype))
                ]
            if not kinds:
                return None
    return kinds[0]


@cache
def commit() -> str | None:
    """The commit of the running code, with a + if the package differs from it; None outside a repository."""
    try:
        changed = _git(PACKAGE, "status", "--porcelain", "--", ".")
        return _git(PACKAGE, "rev-parse", "--short=12", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


@cache
def package_digest(package: Path = PACKAGE) -> str:
    """A digest of the package's Python files by their git blob hashes, from which the commit can be found later."""
    return _digest({path.relative_to(package).as_posix(): _blob(path.read_bytes()) for path in package.rglob("*.py")})


@cache
def commit_of(code: str, package: Path = PACKAGE) -> str | None:
    """The latest commit whose package has this digest; None if this repository has none."""
    try:
        for name in _git(package, "log", f"-{COMMITS}", "--format=%h", "--abbrev=12").split():
            listed = _git(package, "ls-tree", "-r", name, "./").splitlines()
            rows = [line.split(maxsplit=3) for line in listed if line.endswith(".py")]
            if _digest({path: blob for _, _, blob, path in rows}) == code:
                return name
    except (OSError, subprocess.CalledProcessError):
        return None
    return None


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def _blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _digest(files: dict[str, str]) -> str:
    lines = "".join(f"{files[path]} {path}\n" for path in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def code_of(matcher: object) -> tuple[str, ...]:
    """The folders of a matcher's class and its base classes, what its declaration names, and what all models share.

    >>> from longmatch.lab.baselines.cross.matcher import CrossMatcher
    >>> code_of(CrossMatcher.__new__(CrossMatcher))
    ('lab/baselines/cross', 'lab/matchers.py', 'matching')
    """
    modules = (kind.__module__.split(".") for kind in type(matcher).__mro__)
    folders = ("/".join(parts[1:-1]) for parts in modules if parts[0] == "longmatch")
    own = ("lab/matchers.py" if folder == "lab" else folder for folder in folders if folder)
    declared = declaration_of(matcher)
    return tuple(dict.fromkeys((*own, *(declared.code if declared else ()), "matching")))
