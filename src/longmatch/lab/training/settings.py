"""What a training run can be told: the settings all models share, and how a command or a file fills them."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from longmatch.errors import LongmatchError
from longmatch.lab.training.limits import at_least

LEAST = {"epochs": 0, "steps": 1, "learning_rate": 0, "weight_decay": 0, "warmup": 0, "clip": 0, "documents": 1}
LEAST |= {"tokens_at_once": 1, "max_tokens": 1, "accumulate": 1, "validate_every": 1, "save_every": 1, "patience": 1}
LEAST |= {"keep": 1, "workers": 0, "seed": 0}

GPU_TOKENS, CPU_TOKENS = 32_768, 2_048


@dataclass(frozen=True)
class TrainingSettings:
    """What all models share. A recipe adds its own (`Recipe.Settings`), and may have other defaults for these."""

    seed: int = 0  # of everything that is drawn: new weights, batches, dropout
    epochs: float = 3.0  # times that all of the training data are seen
    steps: int | None = None  # changes of the weights; instead of epochs
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    warmup: float = 0.1  # share of the steps in which the learning rate rises to its height
    schedule: Literal["linear", "cosine", "constant"] = "linear"  # how the learning rate falls from there
    clip: float = 1.0  # the longest a gradient may be; 0: as long as it is
    documents: int = 16  # that a batch holds
    accumulate: int = 1  # batches whose gradients make one step
    negatives: Literal["random", "near"] = (
        "random"  # where labels name no non-matches; near: those that share most words
    )
    reachable: bool = False  # of matches only those among what BM25 finds first: for models that rank it anew
    max_tokens: int | None = None  # read of each document; by default all
    tokens_at_once: int | None = None  # that the device holds at a time; by default as many as suit it
    precision: Literal["auto", "float32", "bfloat16"] = "auto"  # of the products; auto: bfloat16 on a GPU that has it
    validate_every: int | None = None  # steps between looks at the validation split; by default an epoch's
    save_every: int | None = None  # steps between checkpoints; there is one at every validation anyway
    patience: int | None = None  # stop after so many validations without a better one; by default never
    keep: int = 2  # checkpoints; the best is always among them
    workers: int | None = None  # processes that prepare batches; by default 4 beside a GPU, none on a CPU
    device: Literal["auto", "cpu"] = "auto"  # auto: a GPU if there is one
    cache: str | None = None  # a folder for the tokenised documents, which several runs may share; by default in `out`

    def __post_init__(self) -> None:
        at_least(self, **LEAST)
        if self.warmup > 1:
            raise LongmatchError(f"The setting warmup is {self.warmup}; it is a share of the steps, 1 at most.")

    @property
    def of_data(self) -> dict[str, Any]:
        """Those that say which pairs there are to learn from."""
        return {"seed": self.seed, "negatives": self.negatives, "reachable": self.reachable}

    def token_budget(self, on_gpu: bool) -> int:
        """How many tokens of a batch a recipe may put through the model at a time."""
        return self.tokens_at_once or (GPU_TOKENS if on_gpu else CPU_TOKENS)


def read_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """What `--set key=value` said, each given once.

    >>> read_pairs(["seed=3", "backbone=a=b"])
    {'seed': '3', 'backbone': 'a=b'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise LongmatchError(f"--set {pair} is no key=value; write --set seed=3, for example.")
        if key.strip() in found:
            raise LongmatchError(f"--set names {key.strip()} twice; leave one of them out.")
        found[key.strip()] = value.strip()
    return found


def read_config(path: Path) -> dict[str, Any]:
    """The settings in a TOML or JSON file; it may hold model, data and out as well."""
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise LongmatchError(f"{path} cannot be read ({error.strerror}). Name a TOML or JSON file.") from error
    except ValueError as error:  # both libraries' errors, and bytes that are no text
        raise LongmatchError(f"{path} is neither TOML nor JSON ({error}). Write lines such as: seed = 3") from error
    if not isinstance(found, dict) or any(isinstance(value, dict) for value in found.values()):
        raise LongmatchError(f"{path} must hold keys and values without tables. Write lines such as: seed = 3")
    return found


def fill(values: Mapping[str, Any], kinds: Sequence[type], defaults: Mapping[str, Any] | None = None) -> list[Any]:
    """One object of each kind (dataclasses), each value where its key belongs; an unknown key is an error.

    >>> fill({"seed": "3", "steps": None}, [TrainingSettings])[0].seed
    3
    """
    known = sorted({field.name for kind in kinds for field in fields(kind)})
    for key in values:
        if key not in known:
            near = get_close_matches(key, known, n=3, cutoff=0.65)
            meant = f"Did you mean {' or '.join(near)}?" if near else f"Name one of {', '.join(known)}."
            raise LongmatchError(f"There is no setting {key}. {meant}")
    given = {**(defaults or {}), **values}
    made = []
    for kind in kinds:
        hints = get_type_hints(kind)
        made.append(
            kind(**{f.name: _typed(f.name, given[f.name], hints[f.name]) for f in fields(kind) if f.name in given})
        )
    return made


def _typed(key: str, value: Any, hint: Any) -> Any:
    """The value as the setting's type; text from the command line is read as it."""
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for option in options:
        found = _read(value, option)
        if found is not _NOT:
            return found
    names = [", ".join(map(str, get_args(o))) if get_origin(o) is Literal else WORDS[o] for o in options]
    raise LongmatchError(f"The setting {key} is {value!r}; it must be {' or '.join(names)}.")


_NOT = object()
WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text", NoneType: "none"}
TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _read(value: Any, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return value if value in get_args(kind) else _NOT
    if kind is NoneType:
        return None if value is None or str(value).lower() == "none" else _NOT
    if kind is bool:
        return value if isinstance(value, bool) else TRUTH.get(str(value).lower(), _NOT)
    if kind is str:
        return value if isinstance(value, str) else _NOT
    if isinstance(value, bool):
        return _NOT
    try:
        number = float(value)
        return kind(value) if kind is float or not isinstance(value, float) or number == int(number) else _NOT
    except (TypeError, ValueError, OverflowError):
        return _NOT
