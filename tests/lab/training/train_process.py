"""One of several processes of a run: `python -m tests.lab.training.train_process RECIPE DATA OUT OWN SPOIL`."""

import sys

from safetensors.torch import save_model

from longmatch.errors import LongmatchError
from longmatch.lab.training.train import train
from longmatch.lab.training.trainer import RecipeTrainer


def main(recipe: str, data: str, out: str, own: str, spoil: str) -> None:
    """Train, and save what this process ends with as the file `own`."""
    load_best = RecipeTrainer.load_best

    def keeping(self: RecipeTrainer) -> dict[str, float]:
        found = load_best(self)
        save_model(self.recipe.model, own)
        return found

    RecipeTrainer.load_best = keeping
    try:
        train(recipe, data, out, steps=20, cached=not spoil, spoil=spoil or None)
    except LongmatchError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
