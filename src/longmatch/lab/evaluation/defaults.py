"""Which of a trained model's settings are worth saying: those that are not the model's defaults."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from longmatch.errors import LongmatchError

HOW = frozenset(  # a model learns, not what: no part of its name
    (
        "seed",
        "tokens_at_once",
        "precision",
        "validate_every",
        "validation_pairs",
        "save_every",
        "keep",
        "workers",
        "device",
        "cache",
    )
)


def differing(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a model that differ from its defaults, in the order given; of a path the last part.

    Of a path that ends in the model's own seed that is left out too: models that differ in nothing else have one name.

    >>> differing("colde", {"seed": 3, "weight_decay": 0.01, "learning_rate": 0.5, "cache": "tokens"})
    {'learning_rate': 0.5}
    >>> differing("sst", {"seed": 3, "clusters": "out/news/sst-clusters-3"})
    {'clusters': 'sst-clusters'}
    """
    usual = defaults_of(model)
    found = {key: value for key, value in settings.items() if key not in HOW and usual.get(key) != value}
    seed = f"-{settings.get('seed')}"
    return {key: Path(v).name.removesuffix(seed) if isinstance(v, str) else v for key, v in found.items()}


@cache
def defaults_of(model: str) -> dict[str, Any]:
    """What all models share, what the model's recipe adds, and where it says otherwise."""
    from longmatch.lab.training.settings import TrainingSettings
    from longmatch.lab.training.train import find_recipe

    usual = _usual(TrainingSettings)
    try:
        recipe = find_recipe(model)
    except LongmatchError:  # a record of another version may name a model that is gone
        return usual
    return usual | _usual(recipe.Settings) | dict(recipe.defaults)


def _usual(kind: Any) -> dict[str, Any]:
    return {field.name: field.default for field in fields(kind)} if is_dataclass(kind) else {}
