"""Train the models whose rows docs/benchmarks.md holds, and say how to measure them.

    python scripts/train_benchmarks.py DATA OUT [--sets acl wiki papers] [--seeds 1 2 3] [--rows colde sdr ...]
                                       [--set steps=60] [--set colde.documents=200] [--jobs 4]

DATA holds the sets' folders. Each model goes into OUT/SET/ROW-SEED, the tokenised documents once into OUT/tokens; what
is trained already is left as it is, and what was stopped goes on. `--set` applies to every row it fits, with a model's
name before it to that model's rows alone. With `--jobs 4` four models are trained at a time, each in a process of its
own that writes to ROW-SEED.log, so that small models fill a GPU together; one that fails does not stop the others.
SST's cluster networks come first: the rows that need one add it themselves.
"""

import argparse
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from longmatch.parallel import half_the_cores, use_processes
from longmatch.training.recipes import find_recipe
from longmatch.training.settings import TrainingSettings, read_pairs
from longmatch.training.train import train

ADAPTIVE = {"clustering": "adaptive", "clusters": "@sst-clusters"}  # @ROW is the folder of that row, trained before
ALONE = {"temporal": False, "views": 1}  # SST without aggregation
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
    "cross": ("cross", {}),
    "bert-pli": ("bert-pli", {}),
    "match-ignition": ("match-ignition", {}),
    "opt-match": ("opt-match", {}),
    "cig": ("cig", {}),
    "sst-clusters": ("sst-clusters", {}),
    "sst-direct-hard": ("sst", {"sampling": "hard"}),  # SST's table 2
    "sst-direct-soft": ("sst", {}),
    "sst-adaptive-hard": ("sst", ADAPTIVE | {"sampling": "hard"}),
    "sst-adaptive-soft": ("sst", ADAPTIVE),
    "sst-one-view": ("sst", ADAPTIVE | {"views": 1}),  # SST's table 4: w/o aggregation inference
    "sst-not-temporal": ("sst", ADAPTIVE | {"temporal": False}),
    "sst-with-attention": ("sst", ADAPTIVE | {"attention": True}),
    "sst-uniform": ("sst", ADAPTIVE | {"sampling": "uniform"}),
    "sst-negative": ("sst", ADAPTIVE | {"sampling": "negative"}),
    "sst-random": ("sst", {"sampling": "random"}),
    "sst-clusters-no-separation": ("sst-clusters", {"separation": 0.0}),
    "sst-clusters-no-agreement": ("sst-clusters", {"agreement": 0.0}),
    "sst-clusters-no-losses": ("sst-clusters", {"agreement": 0.0, "separation": 0.0, "modularity": 1.0}),
    "sst-no-separation": ("sst", ADAPTIVE | ALONE | {"clusters": "@sst-clusters-no-separation"}),  # w/o L_n
    "sst-no-agreement": ("sst", ADAPTIVE | ALONE | {"clusters": "@sst-clusters-no-agreement"}),  # w/o L_p
    "sst-no-losses": ("sst", ADAPTIVE | ALONE | {"clusters": "@sst-clusters-no-losses"}),  # w/o both
    "sst-dual-direct-hard": ("sst-dual", {"sampling": "hard"}),  # SST's table 3
    "sst-dual-direct-soft": ("sst-dual", {}),
    "sst-dual-adaptive-hard": ("sst-dual", ADAPTIVE | {"sampling": "hard"}),
    "sst-dual-adaptive-soft": ("sst-dual", ADAPTIVE),
}
STEPS_BEFORE = ("sst-clusters",)  # models that others need and that match nothing themselves
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
    for row in (row for row in rows if ROWS[row][0] not in STEPS_BEFORE):
        for place in (str(folder / f"{row}-{seed}") for seed in seeds):
            names += [f"{rule}@{place}" for rule in RULES] if row == "sdr" else [place]
    return names


def needed_first(rows: Sequence[str]) -> list[str]:
    """The rows whose folders others name, each once, in the order of ROWS."""
    named = {str(value)[1:] for row in rows for value in ROWS[row][1].values() if str(value).startswith("@")}
    return [row for row in ROWS if row in named]


def resolved(changed: Mapping[str, Any], folder: Path, seed: int) -> dict[str, Any]:
    """A row's settings, each @ROW as that row's folder."""
    return {
        key: str(folder / f"{value[1:]}-{seed}") if isinstance(value, str) and value.startswith("@") else value
        for key, value in changed.items()
    }


@dataclass(frozen=True)
class Job:
    """One model to train."""

    model: str
    data: Path
    out: Path
    settings: Mapping[str, Any]

    def train(self, processes: int) -> None:
        """With so many processes for the tokenising."""
        use_processes(processes)
        train(self.model, self.data, self.out, **self.settings)

    def train_apart(self, cores: int) -> str:
        """In a process of its own, with so many cores; what went wrong, if anything did."""
        import torch

        torch.set_num_threads(cores)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        with self.out.with_suffix(".log").open("a", buffering=1) as log, redirect_stdout(log), redirect_stderr(log):
            try:
                self.train(cores)
            except Exception as error:  # whatever it is, the others go on
                log.write(f"{error!r}\n")
                return f"{type(error).__name__}: {error}"
        return ""


def train_all(jobs: Sequence[Job], at_a_time: int) -> None:
    """One after the other, or several at a time."""
    if at_a_time == 1:
        for job in jobs:
            job.train(half_the_cores())
        return
    cores = max(1, (os.cpu_count() or 1) // at_a_time)
    began, failed = time.monotonic(), 0
    with ProcessPoolExecutor(at_a_time, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        running = {pool.submit(job.train_apart, cores): job for job in jobs}
        for done, future in enumerate(as_completed(running), start=1):
            wrong, seconds = future.result(), time.monotonic() - began
            failed += bool(wrong)
            what = f"{running[future].out} {wrong or 'is trained'}"
            print(f"{done} of {len(jobs)} after {seconds:.0f} s: {what}", flush=True)
    if failed:
        raise SystemExit(f"{failed} of {len(jobs)} could not be trained; each log says why.")


def main() -> None:
    """Train what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", default=["acl", "wiki", "papers"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--set", dest="settings", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1, help="models trained at a time")
    options = parser.parse_args()
    asked = read_pairs(options.settings)
    check(asked, {ROWS[row][0] for row in [*needed_first(options.rows), *options.rows]})
    first = needed_first(options.rows)
    for rows in (first, [row for row in options.rows if row not in first]):
        jobs = []
        for name, seed, row in product(options.sets, options.seeds, rows):
            (model, changed), folder = ROWS[row], options.out / name
            settings = {"cache": str(options.out / "tokens")} | settings_for(model, asked)
            settings |= resolved(changed, folder, seed) | {"seed": seed}
            jobs.append(Job(model, options.data / name, folder / f"{row}-{seed}", settings))
        if jobs:
            train_all(jobs, max(1, options.jobs))
    for name in options.sets:
        models = ",".join(["default", *RULES, *models_of(options.out / name, options.rows, options.seeds)])
        words = ["longmatch", "evaluate", "--data", str(options.data / name), "--models", models, "--protocol", "both"]
        print(f"To measure: {shlex.join(words)}")


if __name__ == "__main__":
    main()
