"""The models that can be trained, by name."""

from typing import TYPE_CHECKING, Any

from longmatch.errors import LongmatchError
from longmatch.registry import RECIPES, resolve

if TYPE_CHECKING:
    from longmatch.lab.training.recipe import Recipe


def find_recipe(name: str) -> "type[Recipe[Any]]":
    """The recipe of that name, one of RECIPES; or one of your own, as `package.module:Class`."""
    if name not in RECIPES and ":" not in name:
        raise LongmatchError(f"There is no model {name} to train. Name one of {', '.join(RECIPES)}.")
    try:
        found: type[Recipe[Any]] = resolve(RECIPES.get(name, name))
    except (ModuleNotFoundError, AttributeError) as error:
        if name in RECIPES:
            raise
        raise LongmatchError(f"There is no recipe {name} ({error}). Write package.module:Class.") from error
    return found
