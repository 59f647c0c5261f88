"""Train the models whose rows docs/benchmarks.md holds, and say how to measure them.

    python scripts/train_benchmarks.py DATA OUT [--sets acl wiki papers] [--seeds 1 2 3] [--rows colde sdr ...]
                                       [--set steps=60] [--set colde.documents=200]

DATA holds the sets' folders. Each model goes into OUT/SET/ROW-SEED, the tokenised documents once into OUT/tokens; what
is trained already is left as it is, and what was stopped goes on. `--set` applies to every row it fits, with a model's
name before it to that model's rows alone. One model is trained after the other: start several processes with different
--sets, --rows or --seeds to share a GPU.
"""

import argparse
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from longmatch.parallel import half_the_cores, use_processes
from longmatch.training.recipes import find_recipe
from longmatch.training.settings import TrainingSettings, read_pairs
from longmatch.training.train import train

ROWS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "colde": ("colde", {}),
    "colde-no-sections": ("colde", {"augmented": False}),  # CoLDE's table 2: -Aug
    "colde-no-lstm": ("colde", {"recurrent": False}),  # -LSTM
    "colde-no-contrast": ("colde", {"contrastive": False}),  # -CL
    "first": ("first", {}),
    "sdr": ("sdr", {}),
    "sdr-no-contrast": ("sdr", {"contrastive": False}),  # SDR's table 3 (v)
    "sdr-margin-2": ("sdr", {"margin": 2.0}),
    "smith": ("smith", {}),  # SMITH's table 3: NP; --set smith.pretrained=FOLDER for WP and WP+SP
    "dssm": ("dssm", {}),
    "arc-i": ("arc-i", {}),
    "han": ("han", {}),
    "smash": ("smash", {}),
    "s-long": ("s-long", {}),
}
RULES = ("sdr", "sdr-plain", "sdr-paragraph", "first", "mean", "cls")  # ways to score with what SDR trained


def known_to(model: str) -> set[str]:
    """The settings a model has."""
    return {field.name for kind in (TrainingSettings, find_recipe(model).Settings) for field in fields(kind)}


def settings_for(model: str, asked: Mapping[str, str]) -> dict[str, str]:
    """Of all that was asked for with --set, what this model has; a model's own wins."""
    shared = {key: value for key, value in asked.items() if key in known_to(model)}
    own = {key.removeprefix(f"{model}."): value for key, value in asked.items() if key.startswith(f"{model}.")}
    return shared | own


def check(asked: Mapping[str, str], models: set[str]) -> None:
    """Stop where a setting fits no row: left out in silence, it would cost a whole run."""
    fitting = {name for model in models for key in known_to(model) for name in (key, f"{model}.{key}")}
    for key in asked:
        if key not in fitting:
            raise SystemExit(f"No row has a setting {key}.")


def models_of(folder: Path, rows: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """What to name in `longmatch evaluate --models`: each folder, and the other rules for what SDR trained."""
    names = []
    for row in rows:
        for place in (str(folder / f"{row}-{seed}") for seed in seeds):
            names += [f"{rule}@{place}" for rule in RULES] if row == "sdr" else [place]
    return names


def main() -> None:
    """Train what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", default=["acl", "wiki", "papers"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--set", dest="settings", action="append", default=[])
    options = parser.parse_args()
    asked = read_pairs(options.settings)
    check(asked, {ROWS[row][0] for row in options.rows})
    use_processes(half_the_cores())
    for name in options.sets:
        folder = options.out / name
        for seed in options.seeds:
            for row in options.rows:
                model, changed = ROWS[row]
                settings = {"cache": str(options.out / "tokens")} | settings_for(model, asked) | dict(changed)
                settings["seed"] = seed
                train(model, options.data / name, folder / f"{row}-{seed}", **settings)
        models = ",".join(["default", *RULES, *models_of(folder, options.rows, options.seeds)])
        words = ["longmatch", "evaluate", "--data", str(options.data / name), "--models", models, "--protocol", "both"]
        print(f"To measure: {shlex.join(words)}")


if __name__ == "__main__":
    main()
