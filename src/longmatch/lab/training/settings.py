"""The settings that all models share, and how they are read from the command line or a file."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from longmatch.errors import LongmatchError

MINIMUMS: dict[str, float] = dict.fromkeys(("epochs", "learning_rate", "head_learning_rate", "weight_decay"), 0)
MINIMUMS |= dict.fromkeys(("warmup", "clip", "workers", "seed"), 0)
MINIMUMS |= dict.fromkeys(("steps", "least_steps", "documents", "tokens_at_once", "max_tokens", "accumulate"), 1)
MINIMUMS |= dict.fromkeys(("validate_every", "save_every", "keep"), 1)
GPU_TOKENS, CPU_TOKENS = 32_768, 2_048
HEAD_FACTOR = 20  # new layers learn this many times faster than pretrained ones


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of all models. A recipe adds its own (`Recipe.Settings`) and may override these defaults."""

    preset: str | None = None  # named values of a recipe's settings: paper; explicit settings win
    seed: int = 0  # for all randomness: initial weights, batches, dropout
    epochs: float = 3.0  # passes over the training data
    steps: int | None = None  # weight updates; instead of epochs
    least_steps: int = 1  # weight updates, whatever the epochs: small data are read more often
    learning_rate: float = 5e-5  # of pretrained weights
    head_learning_rate: float | None = None  # of layers new in the model; by default 20 times learning_rate
    weight_decay: float = 0.01
    warmup: float = 0.1  # share of the steps over which the learning rate rises to its peak
    schedule: Literal["linear", "cosine", "constant"] = "linear"  # of the learning rate after the warm-up
    clip: float = 1.0  # maximum gradient norm; 0: no clipping
    documents: int = 16  # in a batch
    accumulate: int = 1  # batches per step
    negatives: Literal["random", "near"] = "random"  # if the labels contain none; near: from BM25's top results
    reachable: bool = False  # keep only matches among BM25's top results: for models that rerank these
    max_tokens: int | None = None  # read per document; all by default
    tokens_at_once: int | None = None  # per forward pass; by default what suits the device
    precision: Literal["auto", "float32", "bfloat16"] = "auto"  # auto: bfloat16 products on a GPU that supports it
    validate_every: int | None = None  # steps between validations; by default one epoch; step 0 is always validated
    save_every: int | None = None  # steps between checkpoints; every validation saves one anyway
    patience: float | None = None  # epochs without improvement before stopping early; by default never
    keep: int = 2  # number of checkpoints; the best is always kept
    workers: int | None = None  # processes that prepare batches; by default 4 with a GPU, none on a CPU
    device: Literal["auto", "cpu"] = "auto"  # auto: a GPU if there is one
    cache: str | None = None  # folder of tokenised documents, which runs may share; by default in `out`

    def __post_init__(self) -> None:
        at_least(self, **MINIMUMS)
        if self.patience is not None:
            above_zero(self, "patience")
        if self.warmup > 1:
            raise LongmatchError(f"The setting warmup is {self.warmup}; it is a share of the steps, 1 at most.")

    @property
    def new_layers_rate(self) -> float:
        """The learning rate of layers that start at random."""
        rate = self.head_learning_rate
        return HEAD_FACTOR * self.learning_rate if rate is None else rate

    @property
    def of_data(self) -> dict[str, Any]:
        """The settings that decide which pairs are learnt from."""
        return {"seed": self.seed, "negatives": self.negatives, "reachable": self.reachable}

    def token_budget(self, on_gpu: bool) -> int:
        """Tokens per forward pass."""
        return self.tokens_at_once or (GPU_TOKENS if on_gpu else CPU_TOKENS)


def read_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Parse `--set key=value` arguments; each key may occur once.

    >>> read_pairs(["seed=3", "backbone=a=b"])
    {'seed': '3', 'backbone': 'a=b'}
    """
    values: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not key.strip():
            raise LongmatchError(f"--set {pair} is not key=value; write --set seed=3, for example.")
        if key.strip() in values:
            raise LongmatchError(f"--set names {key.strip()} twice; leave one of them out.")
        values[key.strip()] = value.strip()
    return values


def read_config(path: Path) -> dict[str, Any]:
    """Read the settings in a TOML or JSON file; it may also contain model, data and out."""
    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise LongmatchError(f"{path} cannot be read ({error.strerror}). Name a TOML or JSON file.") from error
    except ValueError as error:  # a parser's error, or not UTF-8
        raise LongmatchError(f"{path} is neither TOML nor JSON ({error}). Write lines such as: seed = 3") from error
    if not isinstance(values, dict) or any(isinstance(value, dict) for value in values.values()):
        raise LongmatchError(f"{path} must hold keys and values without tables. Write lines such as: seed = 3")
    return values


def fill(values: Mapping[str, Any], kinds: Sequence[type], defaults: Mapping[str, Any] | None = None) -> list[Any]:
    """Create one object of each dataclass in `kinds` from the values for its fields; unknown keys are an error.

    >>> fill({"seed": "3", "steps": None}, [TrainingSettings])[0].seed
    3
    """
    known = sorted({field.name for kind in kinds for field in fields(kind)})
    for key in values:
        renamed = {old: new for kind in kinds for old, new in getattr(kind, "RENAMED", {}).items()}
        if key in renamed:
            raise LongmatchError(f"The setting {key} is now called {renamed[key]}. Write {renamed[key]} instead.")
        if key not in known:
            near = get_close_matches(key, known, n=3, cutoff=0.65)
            meant = f"Did you mean {' or '.join(near)}?" if near else f"Name one of {', '.join(known)}."
            raise LongmatchError(f"There is no setting {key}. {meant}")
    merged = {**(defaults or {}), **values}
    objects = []
    for kind in kinds:
        hints = get_type_hints(kind)
        names = [field.name for field in fields(kind) if field.name in merged]
        objects.append(kind(**{name: _typed(name, merged[name], hints[name]) for name in names}))
    return objects


def _typed(key: str, value: Any, hint: Any) -> Any:
    """Convert a value, possibly text from the command line, to the setting's type."""
    options = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for option in options:
        converted = _convert(value, option)
        if converted is not _INVALID:
            return converted
    names = [", ".join(map(str, get_args(o))) if get_origin(o) is Literal else TYPE_NAMES[o] for o in options]
    raise LongmatchError(f"The setting {key} is {value!r}; it must be {' or '.join(names)}.")


_INVALID = object()
TYPE_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text", NoneType: "none"}
BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _convert(value: Any, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return value if value in get_args(kind) else _INVALID
    if kind is NoneType:
        return None if value is None or str(value).lower() == "none" else _INVALID
    if kind is bool:
        return value if isinstance(value, bool) else BOOLEANS.get(str(value).lower(), _INVALID)
    if kind is str:
        return value if isinstance(value, str) else _INVALID
    if isinstance(value, bool):
        return _INVALID
    try:
        number = float(value)
        return kind(value) if kind is float or not isinstance(value, float) or number == int(number) else _INVALID
    except (TypeError, ValueError, OverflowError):
        return _INVALID


def at_least(settings: object, **minimums: float) -> None:
    """Refuse settings below their minimum; those that are None or that the object does not have pass.

    >>> from types import SimpleNamespace
    >>> at_least(SimpleNamespace(heads=0, width=None), heads=1, width=1)
    Traceback (most recent call last):
    ...
    longmatch.errors.LongmatchError: The setting heads is 0; it must be 1 or more.
    """
    for key, minimum in minimums.items():
        value = getattr(settings, key, None)
        if value is not None and not value >= minimum:
            raise LongmatchError(f"The setting {key} is {value}; it must be {minimum} or more.")


def above_zero(settings: object, *keys: str) -> None:
    """Refuse settings that are zero, negative or NaN."""
    for key in keys:
        if not getattr(settings, key) > 0:
            raise LongmatchError(f"The setting {key} is {getattr(settings, key)}; it must be above 0.")


def below_one(settings: object, *keys: str) -> None:
    """Refuse rates, such as dropout, that are negative, 1 or more; None passes."""
    for key in keys:
        value = getattr(settings, key)
        if value is not None and not 0 <= value < 1:
            raise LongmatchError(f"The setting {key} is {value}; it must be 0 or more and below 1.")


def positive_share(settings: object, *keys: str) -> None:
    """Refuse shares that are 0, negative or above 1."""
    for key in keys:
        if not 0 < getattr(settings, key) <= 1:
            value = getattr(settings, key)
            raise LongmatchError(f"The setting {key} is {value}; it must be above 0 and 1 at most.")
