"""Train the models of docs/benchmarks.md and measure them.

    python -m benchmarks.papers.train DATA OUT [--sets acl wiki papers] [--seeds 1 2 3] [--rows colde sdr ...]
        [--only 'acl/*' '*-1'] [--set steps=60] [--set colde.documents=200] [--set papers/epochs=1] [--jobs 9]
        [--measure ROWS] [--also news/rprs news/lda]

DATA holds the sets' folders; the set acl-near is DATA/acl/pairs-near.tsv (`longmatch.lab.datasets.near_pairs`). Each
model is written to OUT/SET/ROW-SEED, the tokenised documents once to OUT/tokens; trained models are left as they are,
and interrupted trainings resume. `--only` keeps those whose SET/ROW-SEED matches one of its patterns, in the patterns'
order: `'acl/*' '*-1'` is every seed on acl, then the first elsewhere. `--set` applies to every row that has the
setting, and overrides the row's own; prefixed with the name of a model, row or set, it applies to those alone. Rows
that others need, such as SST's cluster networks, are added and trained first.

With `--jobs 9` nine processes run side by side and log to ROW-SEED.log, so that small models fill a GPU together; a
failure does not stop the others. On an NVIDIA GPU start `nvidia-cuda-mps-control -d` first, or they take turns. With
`--measure ROWS` each model is measured as soon as it is trained, as are the untrained ones and those named by `--also`;
the runs go to ROWS, and `longmatch evaluate --data SET --out ROWS` afterwards adds the lexical rows and writes the
report. The untrained models come first and all others wait for them, because they tokenise the documents; where their
runs exist already, `--untrained bm25 first` is the quickest way to do that.

`--starts` names the backbones that models start from, folders or names in DATA/models; of any but the packaged one the
name is part of the path, OUT/SET/ROW-START-SEED. DATA may be a folder that `benchmarks.prepare` wrote: it has no text,
so only trained models and others that read tokens can be measured (`--untrained` without names measures none).

SMITH is pre-trained on DATA/pretrain into OUT/pretrain/ROW-SEED, once for all sets.
"""

import argparse
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatch
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.papers.job_queue import QueuedJob, run_all
from benchmarks.papers.prepare import MODELS, TOKENS, WORDS, restore_layers
from benchmarks.papers.training_rows import MAIN_ROWS, ROWS
from longmatch.encoders.pretrained import DEFAULT_NAME
from longmatch.lab.datasets.collection import DataFolder, find_set
from longmatch.lab.evaluation.evaluate import Evaluation
from longmatch.lab.evaluation.protocols import PROTOCOLS, Protocol
from longmatch.lab.training.settings import TrainingSettings, read_pairs
from longmatch.lab.training.train import find_recipe, train
from longmatch.models.registry import find_model
from longmatch.parallel import half_the_cores

PRETRAINED = "smith-pretrain"  # trained once for all sets, from unlabelled documents
LARGE = ("colde", "mean", "s-long")  # models whose steps fill a GPU
RULES = ("sdr", "sdr-section", "sdr-plain", "sdr-paragraph", "first", "mean", "cls")
ALL_RULES = ("sdr", "sdr-paper", "sdr-no-contrast")  # rows that are measured by all of these
CENTRED = ("sdr-centred", "mean-centred")  # controls for an untrained backbone
UNTRAINED = ("default", *RULES, *CENTRED)
READOUTS = (  # a trained CoLDE, read otherwise
    "colde-sections",
    "colde-chunks",
    "colde-unprojected",
    "colde-shuffled",
    "colde-undivided",
)
READ_OTHERWISE = ("colde", "colde-paper")  # rows measured by these too


def settings_of(model: str) -> set[str]:
    """The names of a model's settings."""
    return {field.name for kind in (TrainingSettings, find_recipe(model).Settings) for field in fields(kind)}


def split_key(key: str) -> tuple[str, str, str]:
    """Split the key of --set into set, row or model, and setting; empty where not given.

    >>> split_key("steps"), split_key("colde.documents"), split_key("papers/s-long.steps")
    (('', '', 'steps'), ('', 'colde', 'documents'), ('papers', 's-long', 'steps'))
    """
    *data, rest = key.split("/", 1)
    *owner, name = rest.rsplit(".", 1)
    return "".join(data), "".join(owner), name


def settings_for(row: str, data: str, overrides: Mapping[str, str]) -> dict[str, str]:
    """The settings of --set that apply to a row on a set; the more specific key wins.

    >>> settings_for("smith-short", "acl", {"smith.epochs": "3", "smith-short.epochs": "2", "epochs": "1"})
    {'epochs': '2'}
    """
    model, names = ROWS[row][0], settings_of(ROWS[row][0])
    keys = {split_key(key): value for key, value in overrides.items()}
    applied: dict[str, str] = {}
    for owner, of_set in product(("", model, row), ("", data)):
        applied |= {k: value for (s, o, k), value in keys.items() if (s, o) == (of_set, owner) and k in names}
    return applied


def check_overrides(overrides: Mapping[str, str], rows: Sequence[str], sets: Sequence[str]) -> None:
    """Refuse a setting that applies to no row: silently ignored, it would waste a whole run."""
    for key in overrides:
        data, owner, name = split_key(key)
        models = {ROWS[row][0] for row in rows if owner in ("", row, ROWS[row][0])}
        if data not in ("", *sets) or not any(name in settings_of(model) for model in models):
            raise SystemExit(f"No row has a setting {key}.")


def prerequisites(rows: Sequence[str]) -> list[str]:
    """The rows whose folders these rows refer to, each once, in the order of ROWS."""
    named = {str(value)[1:] for row in rows for value in ROWS[row][1].values() if str(value).startswith("@")}
    return [row for row in ROWS if row in named]


def takes_start(row: str) -> bool:
    """Whether a row's model starts from a backbone that may be another one."""
    model, changed = ROWS[row]
    return not find_model(model).from_scratch and "backbone" in settings_of(model) and "backbone" not in changed


@dataclass(frozen=True)
class TrainedModel:
    """A row trained on one set from one backbone with one seed."""

    data: str  # the set's name
    row: str
    seed: int
    start: str = DEFAULT_NAME  # the backbone; of a path the last part is its name

    @property
    def path(self) -> str:
        """Its path below OUT.

        >>> TrainedModel("acl", "colde", 2).path, TrainedModel("acl", "colde", 2, "models/raw-lm").path
        ('acl/colde-2', 'acl/colde-raw-lm-2')
        >>> TrainedModel("acl", "smith-pretrain-wp", 2).path
        'pretrain/smith-pretrain-wp-2'
        """
        start = Path(self.start).name
        name = f"{self.row}-{start}" if start != DEFAULT_NAME and takes_start(self.row) else self.row
        return f"{'pretrain' if ROWS[self.row][0] == PRETRAINED else self.data}/{name}-{self.seed}"

    @property
    def label(self) -> str:
        """What the patterns of --only are about: SET/ROW-SEED or SET/ROW-START-SEED."""
        return f"{self.data}/{Path(self.path).name}"

    def other(self, row: str) -> "TrainedModel":
        """Another row with the same set, seed and start."""
        return TrainedModel(self.data, row, self.seed, self.start)


@dataclass(frozen=True)
class BenchmarkPlan:
    """All trainings and measurements of one command."""

    data: Path
    out: Path
    sets: Sequence[str]
    rows: Sequence[str]
    seeds: Sequence[int]
    overrides: Mapping[str, str]
    runs: Path | None = None  # where to measure to
    only: Sequence[str] = ("*",)
    readers: int = 1  # processes that tokenise documents
    also: Sequence[str] = ()  # SET/MODEL: further models that need no training
    untrained: Sequence[str] = UNTRAINED
    starts: Sequence[str] = (DEFAULT_NAME,)
    rules: Sequence[str] = RULES  # that SDR's models are measured by
    readouts: Sequence[str] = READOUTS  # that CoLDE's models are measured by too
    protocol: Protocol | None = None  # by default both where a set has both kinds of labels

    def jobs(self) -> list[QueuedJob]:
        """All jobs: prerequisites before the rows that need them, each measurement right after its training.

        The untrained models come first, because they tokenise the documents, then those named by `also`: these keep one
        core busy for long, and hardly use the GPU.
        """
        jobs: dict[str, QueuedJob] = {}

        def measure(name: str, data: str, models: Sequence[str], log: str, *needs: str) -> None:
            first = f"{data}: untrained"
            needs = (*needs, first) if self.untrained and name != first else needs
            jobs[name] = QueuedJob(name, partial(self.evaluation(data).measure, models), self.out / log, needs)

        if self.runs:
            for data in self.sets if self.untrained else ():
                measure(f"{data}: untrained", data, self.untrained, f"{data}/untrained.log")
            for place in self.also:
                data, untrained = place.split("/", 1)
                measure(place, data, [untrained], f"{place}.log")
        for model in sorted(self.chosen(), key=self._first_pattern):
            for row in (*prerequisites([model.row]), model.row):
                training = self._training(model.other(row))
                jobs.setdefault(training.name, training)
            if self.runs and not find_model(ROWS[model.row][0]).stage:
                measure(f"{model.path}: measured", model.data, self._entries(model), f"{model.path}.log", model.path)
        return list(jobs.values())

    def chosen(self) -> Iterator[TrainedModel]:
        """The models that match a pattern, the first seed of all sets first; without another start a row comes once."""
        for seed, data, start, row in product(self.seeds, self.sets, self.starts, self.rows):
            model = TrainedModel(data, row, seed, start)
            counts = start == self.starts[0] or takes_start(row)
            if counts and any(fnmatch(model.label, pattern) for pattern in self.only):
                yield model

    def _first_pattern(self, model: TrainedModel) -> int:
        return next(number for number, pattern in enumerate(self.only) if fnmatch(model.label, pattern))

    def evaluation(self, data: str) -> Evaluation:
        """All models on a set, both protocols where it has both kinds of labels."""
        folder = DataFolder(find_set(self.data, data))
        both: Protocol = "both" if folder.pairs("test") and folder.qrels("test") else "auto"
        out, protocol = self.runs or Path(), self.protocol or both
        return Evaluation([folder.place], self.models(data), out, protocol=protocol, processes=self.readers)

    def models(self, data: str) -> list[str]:
        """All models of a set's evaluation."""
        trained = [model for model in self.chosen() if model.data == data and not find_model(ROWS[model.row][0]).stage]
        further = [place.removeprefix(f"{data}/") for place in self.also if place.startswith(f"{data}/")]
        return [*self.untrained, *further, *(entry for model in trained for entry in self._entries(model))]

    def restore_prepared(self) -> None:
        """Unpack the tokens and words of sets that `benchmarks.prepare` wrote."""
        self._require_words()
        stores = [self.out / "tokens", *([self.runs / "encodings"] if self.runs else [])]
        trained = [each.other(row) for each in self.chosen() for row in (each.row, *prerequisites([each.row]))]
        for data in dict.fromkeys([*self.sets, *(Path(model.path).parent.name for model in trained)]):
            folder = DataFolder(find_set(self.data, data)).path
            if (folder / TOKENS).is_file():
                restore_layers(folder, stores if data in self.sets else stores[:1])

    def _require_words(self) -> None:
        """Refuse, before anything is trained, to rank without the words that the first stage needs."""
        rows = [row for row in self.rows if find_model(ROWS[row][0]).reads_pairs]
        for name in self.sets if rows and self.runs else ():
            evaluation = self.evaluation(name)
            folder = DataFolder(find_set(self.data, name))
            ranks = evaluation.protocol != "pairs" and folder.qrels(evaluation.split)
            if ranks and (folder.path / TOKENS).is_file() and not (folder.path / WORDS).is_file():
                raise SystemExit(
                    f"{folder.path} was prepared without words, and the rankings of {rows[0]} start from BM25's. "
                    "Prepare it with --words, or add --protocol pairs."
                )

    def _entries(self, model: TrainedModel) -> list[str]:
        """In `longmatch evaluate --models`: the folder, CoLDE's also by readout, SDR's by scoring rule."""
        folder = self.out / model.path
        if model.row in ALL_RULES:
            return [f"{rule}@{folder}" for rule in self.rules]
        readouts = self.readouts if model.row in READ_OTHERWISE else ()
        return [str(folder), *(f"{readout}@{folder}" for readout in readouts)]

    def _training(self, trained: TrainedModel) -> QueuedJob:
        row, path = trained.row, trained.path
        model, changed = ROWS[row]
        settings: dict[str, Any] = {"cache": str(self.out / "tokens")}
        if takes_start(row):
            prepared = self.data / MODELS / trained.start  # by `benchmarks.prepare`; of a path the path itself
            if prepared.is_dir() or trained.start != DEFAULT_NAME:
                settings["backbone"] = str(prepared if prepared.is_dir() else trained.start)
        for key, value in changed.items():
            named = isinstance(value, str) and value.startswith("@")
            settings[key] = str(self.out / trained.other(value[1:]).path) if named else value
        minilm = self.data / MODELS / DEFAULT_NAME  # in place of the packaged one, which SMITH's rows read
        if find_model(model).from_scratch and "pretrained" not in changed and minilm.is_dir():
            settings["backbone" if "backbone" in changed else "tokenizer"] = str(minilm)
        settings |= settings_for(row, trained.data, self.overrides) | {"seed": trained.seed}
        work = partial(train, model, find_set(self.data, Path(path).parent.name), self.out / path, **settings)
        needs = tuple(trained.other(needed).path for needed in prerequisites([row]))
        return QueuedJob(path, work, self.out / f"{path}.log", needs, model in LARGE)


def main() -> None:
    """Train and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sets", nargs="+", default=["acl", "wiki", "papers"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--rows", nargs="+", default=list(MAIN_ROWS), choices=list(ROWS))
    parser.add_argument(
        "--starts", nargs="+", default=[DEFAULT_NAME], help="backbones: folders, or names in DATA/models"
    )
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns of SET/ROW-SEED")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1, help="processes running at a time")
    parser.add_argument("--readers", type=int, default=None, help="processes per job that read documents")
    parser.add_argument("--measure", type=Path, default=None, help="a folder for the runs: measure each model")
    parser.add_argument(
        "--also", nargs="+", default=[], help="SET/MODEL: further models to measure that need no training"
    )
    parser.add_argument("--untrained", nargs="*", default=list(UNTRAINED), help="models measured first on every set")
    parser.add_argument("--rules", nargs="*", default=list(RULES), help="scoring rules of SDR's models")
    parser.add_argument("--readouts", nargs="*", default=list(READOUTS), help="further readouts of CoLDE's models")
    parser.add_argument("--protocol", choices=PROTOCOLS, default=None, help="both where a set has both kinds of labels")
    options = parser.parse_args()
    overrides = read_pairs(options.settings)
    check_overrides(overrides, [*prerequisites(options.rows), *options.rows], options.sets)
    jobs = max(1, options.jobs)
    cores = half_the_cores() if jobs == 1 else max(1, (os.cpu_count() or 1) // jobs)
    plan = BenchmarkPlan(
        options.data,
        options.out,
        options.sets,
        options.rows,
        options.seeds,
        overrides,
        runs=options.measure,
        only=options.only,
        readers=options.readers or cores,
        also=options.also,
        untrained=options.untrained,
        starts=options.starts,
        rules=options.rules,
        readouts=options.readouts,
        protocol=options.protocol,
    )
    plan.restore_prepared()
    failed = run_all(plan.jobs(), jobs, cores, plan.readers)
    for name in [] if options.measure else options.sets:
        data, models = str(options.data / name), ",".join(plan.models(name))
        words = ["longmatch", "evaluate", "--data", data, "--models", models, "--protocol", "both"]
        print(f"To measure: {shlex.join(words)}")
    if failed:
        raise SystemExit(f"{failed} jobs failed; each log says why.")


if __name__ == "__main__":
    main()
