"""Digests of what derived arrays depend on: code, weights, backbones."""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from longmatch.encoders.backbone import Backbone

PACKAGE = Path(__file__).parents[2]


@cache
def code_digest(*places: str) -> str:
    """Digest of files of the package, and of the Python files directly in its folders.

    >>> code_digest("errors.py") == code_digest("errors.py") != code_digest("default")
    True
    """
    digest = hashlib.sha256()
    for place in places:
        path = PACKAGE / place
        for file in sorted(path.glob("*.py")) if path.is_dir() else [path]:
            content = file.read_bytes()
            if file.suffix == ".py":  # of code the syntax tree counts, without comments, layout and docstrings
                tree = ast.parse(content)
                for node in ast.walk(tree):
                    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                        node.value.value = ""
                content = ast.dump(tree).encode()
            digest.update(file.name.encode() + b"\0" + content)
    return digest.hexdigest()[:12]


def backbone_facts(backbone: "Backbone") -> dict[str, Any]:
    """What sentence vectors depend on: the weights themselves, pooling, length and precision; not where they lie."""
    return {
        "weights": backbone.network.digest,
        "pooling": backbone.pooling.mode,
        "max_tokens": backbone.max_tokens,
        "precision": backbone.precision,
        "engine": backbone.engine.name,
        "code": code_digest("documents", "units", "encoders", "matching/sentence_vectors.py"),
    }


def weights_digest(model: "torch.nn.Module") -> str:
    """Digest of a network's weights, wherever they lie."""
    return tensors_digest(model.state_dict().values())


def tensors_digest(tensors: "Iterable[torch.Tensor]") -> str:
    """Digest of the numbers themselves."""
    import torch

    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(tensor.detach().cpu().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]
