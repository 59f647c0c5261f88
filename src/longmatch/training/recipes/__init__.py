"""The models that can be trained, by name."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from longmatch.errors import LongmatchError

if TYPE_CHECKING:
    from longmatch.training.recipe import Recipe

RECIPES = {
    "colde": "longmatch.training.recipes.colde:ColdeRecipe",
    "sdr": "longmatch.training.recipes.sdr:SdrRecipe",
    "smith": "longmatch.training.recipes.smith:SmithRecipe",
    "smith-pretrain": "longmatch.training.recipes.smith_pretrain:SmithPretrainRecipe",
    "cross": "longmatch.training.recipes.cross:CrossRecipe",
    "sst": "longmatch.training.recipes.sst:SstRecipe",
    "sst-dual": "longmatch.training.recipes.sst_dual:DualRecipe",
    "sst-clusters": "longmatch.training.recipes.sst_clusters:ClusterRecipe",
    "bert-pli": "longmatch.training.recipes.pli:PliRecipe",
    "match-ignition": "longmatch.training.recipes.selecting:IgnitionRecipe",
    "opt-match": "longmatch.training.recipes.selecting:TransportRecipe",
    "cig": "longmatch.training.recipes.cig:CigRecipe",
    "first": "longmatch.training.recipes.siamese:SiameseRecipe",
    "dssm": "longmatch.training.recipes.baselines:DssmRecipe",
    "arc-i": "longmatch.training.recipes.baselines:ArcRecipe",
    "han": "longmatch.training.recipes.baselines:HanRecipe",
    "smash": "longmatch.training.recipes.baselines:SmashRecipe",
    "s-long": "longmatch.training.recipes.baselines:LongRecipe",
}


def find_recipe(name: str) -> "type[Recipe[Any]]":
    """The recipe of that name, one of RECIPES; or one of your own, as `package.module:Class`."""
    if name not in RECIPES and ":" not in name:
        raise LongmatchError(f"There is no model {name} to train. Name one of {', '.join(RECIPES)}.")
    module, _, attribute = RECIPES.get(name, name).partition(":")
    try:
        found: type[Recipe[Any]] = getattr(import_module(module), attribute)
    except (ModuleNotFoundError, AttributeError) as error:
        if name in RECIPES:
            raise
        raise LongmatchError(f"There is no recipe {name} ({error}). Write package.module:Class.") from error
    return found
