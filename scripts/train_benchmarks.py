"""Train the models whose rows docs/benchmarks.md holds, and measure them.

    python scripts/train_benchmarks.py DATA OUT [--sets acl wiki papers] [--seeds 1 2 3] [--rows colde sdr ...]
                                       [--only 'acl/*' '*-1'] [--set steps=60] [--set colde.documents=200]
                                       [--set papers/epochs=1] [--jobs 9] [--measure ROWS] [--also news/rprs news/lda]

DATA holds the sets' folders. Each model goes into OUT/SET/ROW-SEED, the tokenised documents once into OUT/tokens; what
is trained already is left as it is, and what was stopped goes on. `--only` keeps those whose SET/ROW-SEED fits one of
its patterns, in their order: `'acl/*' '*-1'` is every seed on acl, then the first elsewhere. `--set` applies to every
row it fits; with a model's or a row's name before it, or a set's, to those alone. SST's cluster networks come first:
the rows that need one add it themselves.

With `--jobs 9` nine processes work side by side and write to ROW-SEED.log, so that small models fill a GPU together;
one that fails does not stop the others. On an NVIDIA GPU start `nvidia-cuda-mps-control -d` before: then they need not
take turns. With `--measure ROWS` each model is measured when it is trained, beside the untrained ones and what `--also`
names, and its answers are kept in ROWS; `longmatch evaluate --data SET --out ROWS` afterwards adds the lexical rows and
reports on all. The untrained ones come first, and all others wait for them, because they tokenise the documents; where
their rows are there already, `--untrained bm25 first` does that in the least time.

SMITH is pre-trained on DATA/pretrain, once for all sets and seeds.
"""

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Any, Literal

from tasks import Task, run_all

from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.evaluation.evaluate import Evaluation
from longmatch.lab.training.settings import TrainingSettings, read_pairs
from longmatch.lab.training.train import find_recipe, train
from longmatch.parallel import half_the_cores, use_processes

ADAPTIVE = {"clustering": "adaptive", "clusters": "@sst-clusters"}  # @ROW is the folder of that row, trained before
ALONE = {"temporal": False, "views": 1}  # SST without aggregation
BOTH = {"pretrained": "@smith-pretrain-wp-sp"}  # words and blocks were hidden
ROWS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "colde": ("colde", {}),
    "colde-no-sections": ("colde", {"augmented": False}),  # CoLDE's table 2: -Aug
    "colde-no-lstm": ("colde", {"recurrent": False}),  # -LSTM
    "colde-no-contrast": ("colde", {"contrastive": False}),  # -CL
    "first": ("first", {}),
    "sdr": ("sdr", {}),
    "sdr-no-contrast": ("sdr", {"contrastive": False}),  # SDR's table 3 (v)
    "sdr-margin-2": ("sdr", {"margin": 2.0}),
    "smith-pretrain-wp": ("smith-pretrain", {"masked_blocks": 0}),
    "smith-pretrain-wp-sp": ("smith-pretrain", {}),
    "smith": ("smith", {}),  # SMITH's table 3: NP
    "smith-wp": ("smith", {"pretrained": "@smith-pretrain-wp"}),
    "smith-wp-sp": ("smith", BOTH),
    "smith-sum-concat": ("smith", BOTH | {"combine": "sum-concat"}),  # SMITH's table 7
    "smith-mean-concat": ("smith", BOTH | {"combine": "mean-concat"}),
    "smith-attention": ("smith", BOTH | {"combine": "attention"}),
    "smith-pretrain-2-layers": ("smith-pretrain", {"layers": 2}),
    "smith-pretrain-4-layers": ("smith-pretrain", {"layers": 4}),
    "smith-2-layers": ("smith", {"pretrained": "@smith-pretrain-2-layers"}),  # SMITH's table 6
    "smith-4-layers": ("smith", {"pretrained": "@smith-pretrain-4-layers"}),
    "smith-short": ("smith", {"backbone": DEFAULT_NAME}),
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
STEPS_BEFORE = ("sst-clusters", "smith-pretrain")  # models that others need and that match nothing themselves
PRETRAINED = "smith-pretrain"  # a model that learns once, from bare documents
LARGE = ("colde", "s-long")  # models whose steps fill a GPU
RULES = ("sdr", "sdr-plain", "sdr-paragraph", "first", "mean", "cls")  # ways to score with what SDR trained
UNTRAINED = ("default", *RULES)


def known_to(model: str) -> set[str]:
    """The settings a model has."""
    return {field.name for kind in (TrainingSettings, find_recipe(model).Settings) for field in fields(kind)}


def split_key(key: str) -> tuple[str, str, str]:
    """Of a setting asked for: the set it is for, the row or model, and its name; what is not told is empty.

    >>> split_key("steps"), split_key("colde.documents"), split_key("papers/s-long.steps")
    (('', '', 'steps'), ('', 'colde', 'documents'), ('papers', 's-long', 'steps'))
    """
    *data, rest = key.split("/", 1)
    *owner, name = rest.rsplit(".", 1)
    return "".join(data), "".join(owner), name


def settings_for(row: str, data: str, asked: Mapping[str, str]) -> dict[str, str]:
    """Of all that was asked for with --set, what this row has on this set; what names it more closely wins.

    >>> settings_for("smith-short", "acl", {"smith.epochs": "3", "smith-short.epochs": "2", "epochs": "1"})
    {'epochs': '2'}
    """
    model, own = ROWS[row][0], known_to(ROWS[row][0])
    found: dict[str, str] = {}
    for owner, wanted in product(("", model, row), ("", data)):
        mine = {split_key(key): value for key, value in asked.items()}
        found |= {k: value for (s, o, k), value in mine.items() if (s, o) == (wanted, owner) and k in own}
    return found


def check(asked: Mapping[str, str], rows: Sequence[str], sets: Sequence[str]) -> None:
    """Stop where a setting fits no row: left out in silence, it would cost a whole run."""
    for key in asked:
        data, owner, name = split_key(key)
        mine = {ROWS[row][0] for row in rows if owner in ("", row, ROWS[row][0])}
        if data not in ("", *sets) or not any(name in known_to(model) for model in mine):
            raise SystemExit(f"No row has a setting {key}.")


def models_of(place: Path, row: str) -> list[str]:
    """What to name in `longmatch evaluate --models`: the folder, and the other rules for what SDR trained."""
    return [f"{rule}@{place}" for rule in RULES] if row == "sdr" else [str(place)]


def needed_first(rows: Sequence[str]) -> list[str]:
    """The rows whose folders others name, each once, in the order of ROWS."""
    named = {str(value)[1:] for row in rows for value in ROWS[row][1].values() if str(value).startswith("@")}
    return [row for row in ROWS if row in named]


def place_of(row: str, name: str, seed: int) -> str:
    """Where a row's model lies below OUT.

    >>> place_of("colde", "acl", 2), place_of("smith-pretrain-wp", "acl", 2)
    ('acl/colde-2', 'pretrain/smith-pretrain-wp')
    """
    return f"pretrain/{row}" if ROWS[row][0] == PRETRAINED else f"{name}/{row}-{seed}"


def resolved(changed: Mapping[str, Any], out: Path, name: str, seed: int) -> dict[str, Any]:
    """A row's settings, each @ROW as that row's folder."""
    return {
        key: str(out / place_of(value[1:], name, seed)) if isinstance(value, str) and value.startswith("@") else value
        for key, value in changed.items()
    }


@dataclass(frozen=True)
class Training:
    """One model to train."""

    model: str
    data: Path
    out: Path
    settings: Mapping[str, Any]
    readers: int  # processes that tokenise documents

    def run(self, cores: int) -> None:
        """Train it."""
        use_processes(self.readers)
        train(self.model, self.data, self.out, **self.settings)


@dataclass(frozen=True)
class Measuring:
    """Some of the models of an evaluation."""

    evaluation: Evaluation
    models: tuple[str, ...]

    def run(self, cores: int) -> None:
        """Measure them."""
        self.evaluation.measure(self.models)


@dataclass(frozen=True)
class Bench:
    """What was asked for: all trainings and, where they are wanted, all measurements."""

    data: Path
    out: Path
    sets: Sequence[str]
    rows: Sequence[str]
    seeds: Sequence[int]
    asked: Mapping[str, str]
    measured: Path | None = None
    only: Sequence[str] = ("*",)
    readers: int = 1
    also: Sequence[str] = ()  # SET/MODEL: more models that need no training
    untrained: Sequence[str] = UNTRAINED

    def tasks(self) -> list[Task]:
        """The rows that others need before these; what is measured is measured as soon as it can be.

        What `also` names begins early: it keeps one core busy for long, and the GPU hardly.
        """
        found = {task.name: task for task in map(self._untrained, self.sets)} if self.measured else {}
        also = [self._as_it_is(*place.split("/", 1)) for place in self.also]
        found |= {task.name: task for task in also}
        for name, row, seed in self._pieces():
            for other in (*needed_first([row]), row):
                training = self._training(name, other, seed)
                found.setdefault(training.name, training)
            if self.measured and ROWS[row][0] not in STEPS_BEFORE:
                measuring = self._measuring(name, row, seed)
                found[measuring.name] = measuring
        return list(found.values())

    def models(self, name: str) -> list[str]:
        """All that a set's evaluation compares."""
        places = [(self.out / place_of(row, name, seed), row) for seed in self.seeds for row in self._rows(name, seed)]
        matching = [models_of(place, row) for place, row in places if ROWS[row][0] not in STEPS_BEFORE]
        further = [place.removeprefix(f"{name}/") for place in self.also if place.startswith(f"{name}/")]
        return [*self.untrained, *further, *(model for some in matching for model in some)]

    def evaluation(self, name: str) -> Evaluation:
        """All models on a set, both protocols where it has both kinds of labels."""
        folder = DataFolder(self.data / name)
        both: Literal["both", "auto"] = "both" if folder.pairs("test") and folder.qrels("test") else "auto"
        out = self.measured or Path()
        return Evaluation([folder.path], self.models(name), out, protocol=both, processes=self.readers)

    def _pieces(self) -> list[tuple[str, str, int]]:
        """Set, row and seed of all that is asked for: as the patterns stand, the first seed of all sets first."""
        found = [(name, row, seed) for seed in self.seeds for name in self.sets for row in self._rows(name, seed)]
        return sorted(found, key=lambda piece: self._pattern("{}/{}-{}".format(*piece)))

    def _pattern(self, place: str) -> int:
        """Which of the patterns is the first that fits."""
        return next(number for number, pattern in enumerate(self.only) if fnmatch(place, pattern))

    def _rows(self, name: str, seed: int) -> list[str]:
        return [row for row in self.rows if any(fnmatch(f"{name}/{row}-{seed}", pattern) for pattern in self.only)]

    def _training(self, name: str, row: str, seed: int) -> Task:
        model, changed = ROWS[row]
        place = place_of(row, name, seed)
        settings = {"cache": str(self.out / "tokens")} | settings_for(row, name, self.asked)
        settings |= resolved(changed, self.out, name, seed) | {"seed": 1 if model == PRETRAINED else seed}
        work = Training(model, self.data / Path(place).parent, self.out / place, settings, self.readers)
        needs = tuple(place_of(other, name, seed) for other in needed_first([row]))
        return Task(place, work, self.out / f"{place}.log", needs, model in LARGE)

    def _measuring(self, name: str, row: str, seed: int) -> Task:
        place = place_of(row, name, seed)
        work = Measuring(self.evaluation(name), tuple(models_of(self.out / place, row)))
        return Task(f"{place}: measured", work, self.out / f"{place}.log", (place, f"{name}: untrained"))

    def _untrained(self, name: str) -> Task:
        """Before the others: the documents are tokenised here."""
        work = Measuring(self.evaluation(name), tuple(self.untrained))
        return Task(f"{name}: untrained", work, self.out / name / "untrained.log")

    def _as_it_is(self, name: str, model: str) -> Task:
        work = Measuring(self.evaluation(name), (model,))
        return Task(f"{name}/{model}", work, self.out / name / f"{model}.log", (f"{name}: untrained",))


def main() -> None:
    """Train what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", default=["acl", "wiki", "papers"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS))
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns of SET/ROW-SEED")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1, help="processes that work at a time")
    parser.add_argument("--readers", type=int, default=None, help="processes that read documents, for each of the jobs")
    parser.add_argument("--measure", type=Path, default=None, help="a folder for what the models answer")
    parser.add_argument("--also", nargs="+", default=[], help="SET/MODEL: models to measure that need no training")
    parser.add_argument("--untrained", nargs="+", default=list(UNTRAINED), help="those measured first on every set")
    options = parser.parse_args()
    asked = read_pairs(options.settings)
    check(asked, [*needed_first(options.rows), *options.rows], options.sets)
    jobs = max(1, options.jobs)
    cores = half_the_cores() if jobs == 1 else max(1, (os.cpu_count() or 1) // jobs)
    asked_for = options.data, options.out, options.sets, options.rows, options.seeds, asked
    how = options.measure, options.only, options.readers or cores, options.also, options.untrained
    bench = Bench(*asked_for, *how)
    failed = run_all(bench.tasks(), jobs, cores)
    for name in [] if options.measure else options.sets:
        data, models = str(options.data / name), ",".join(bench.models(name))
        words = ["longmatch", "evaluate", "--data", data, "--models", models, "--protocol", "both"]
        print(f"To measure: {shlex.join(words)}")
    if failed:
        raise SystemExit(f"{failed} could not be done; each log says why.")


if __name__ == "__main__":
    main()
