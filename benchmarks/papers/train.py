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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatch
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
from longmatch.parallel import half_the_cores, use_processes

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


def evaluated_models(
    place: Path, row: str, rules: Sequence[str] = RULES, readouts: Sequence[str] = READOUTS
) -> list[str]:
    """A row's entries in `longmatch evaluate --models`: its folder, CoLDE's also by readout, SDR's by scoring rule."""
    if row in ALL_RULES:
        return [f"{rule}@{place}" for rule in rules]
    return [str(place), *(f"{readout}@{place}" for readout in readouts if row in READ_OTHERWISE)]


def prerequisites(rows: Sequence[str]) -> list[str]:
    """The rows whose folders these rows refer to, each once, in the order of ROWS."""
    named = {str(value)[1:] for row in rows for value in ROWS[row][1].values() if str(value).startswith("@")}
    return [row for row in ROWS if row in named]


def takes_start(row: str) -> bool:
    """Whether a row's model starts from a backbone that may be another one."""
    model, changed = ROWS[row]
    return not find_model(model).from_scratch and "backbone" in settings_of(model) and "backbone" not in changed


def model_path(row: str, name: str, seed: int, start: str = DEFAULT_NAME) -> str:
    """The path of a row's model below OUT.

    >>> model_path("colde", "acl", 2), model_path("smith-pretrain-wp", "acl", 2)
    ('acl/colde-2', 'pretrain/smith-pretrain-wp-2')
    >>> model_path("colde", "acl", 2, "raw-lm")
    'acl/colde-raw-lm-2'
    """
    words = [row, *([start] if start != DEFAULT_NAME and takes_start(row) else []), str(seed)]
    return f"{'pretrain' if ROWS[row][0] == PRETRAINED else name}/{'-'.join(words)}"


def start_settings(row: str, start: str, data: Path) -> dict[str, str]:
    """The backbone of a start: a folder, or one that `benchmarks.prepare` wrote; the packaged one needs no setting."""
    if not takes_start(row):
        return {}
    prepared = data / MODELS / start
    if start == DEFAULT_NAME and not prepared.is_dir():
        return {}
    return {"backbone": str(prepared if prepared.is_dir() else start)}


def prepared_minilm(row: str, data: Path) -> dict[str, str]:
    """For SMITH's rows, the MiniLM that `benchmarks.prepare` wrote in place of the packaged one."""
    model, changed = ROWS[row]
    prepared = data / MODELS / DEFAULT_NAME
    if not find_model(model).from_scratch or "pretrained" in changed or not prepared.is_dir():
        return {}
    return {"backbone" if "backbone" in changed else "tokenizer": str(prepared)}


def resolve_folders(changed: Mapping[str, Any], out: Path, name: str, seed: int, start: str) -> dict[str, Any]:
    """A row's settings with each @ROW replaced by that row's folder."""
    return {
        key: str(out / model_path(value[1:], name, seed, start))
        if isinstance(value, str) and value.startswith("@")
        else value
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
class Measurement:
    """Some of the models of an evaluation."""

    evaluation: Evaluation
    models: tuple[str, ...]

    def run(self, cores: int) -> None:
        """Measure them."""
        self.evaluation.measure(self.models)


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
    readers: int = 1
    also: Sequence[str] = ()  # SET/MODEL: further models that need no training
    untrained: Sequence[str] = UNTRAINED
    starts: Sequence[str] = (DEFAULT_NAME,)  # backbones; of a path its last part names the model
    rules: Sequence[str] = RULES  # that SDR's models are measured by
    readouts: Sequence[str] = READOUTS  # that CoLDE's models are measured by too
    protocol: Protocol | None = None  # by default both where a set has both kinds of labels

    def jobs(self) -> list[QueuedJob]:
        """All jobs: prerequisites before the rows that need them, each measurement right after its training.

        Models named by `also` start early: they keep one core busy for long, and hardly use the GPU.
        """
        jobs = {job.name: job for job in map(self._untrained, self.sets)} if self.runs and self.untrained else {}
        jobs |= {job.name: job for job in (self._further(*place.split("/", 1)) for place in self.also)}
        for name, row, start, seed in self._combinations():
            for other in (*prerequisites([row]), row):
                training = self._training(name, other, start, seed)
                jobs.setdefault(training.name, training)
            if self.runs and not find_model(ROWS[row][0]).stage:
                measurement = self._measurement(name, row, start, seed)
                jobs[measurement.name] = measurement
        return list(jobs.values())

    def restore_prepared(self) -> None:
        """Unpack the tokens and words of sets that `benchmarks.prepare` wrote."""
        self._require_words()
        stores = [self.out / "tokens", *([self.runs / "encodings"] if self.runs else [])]
        measured = {DataFolder(find_set(self.data, name)).path: stores for name in self.sets}
        trained = {DataFolder(job.work.data).path: stores[:1] for job in self.jobs() if isinstance(job.work, Training)}
        for folder, places in (trained | measured).items():
            if (folder / TOKENS).is_file():
                restore_layers(folder, places)

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

    def models(self, name: str) -> list[str]:
        """All models of a set's evaluation."""
        places = {
            self.out / _path(row, name, seed, start): row
            for seed in self.seeds
            for row, start in self._rows(name, seed)
            if not find_model(ROWS[row][0]).stage
        }
        matching = [evaluated_models(place, row, self.rules, self.readouts) for place, row in places.items()]
        further = [place.removeprefix(f"{name}/") for place in self.also if place.startswith(f"{name}/")]
        return [*self.untrained, *further, *(model for some in matching for model in some)]

    def evaluation(self, name: str) -> Evaluation:
        """All models on a set, both protocols where it has both kinds of labels."""
        folder = DataFolder(find_set(self.data, name))
        both: Protocol = "both" if folder.pairs("test") and folder.qrels("test") else "auto"
        out, protocol = self.runs or Path(), self.protocol or both
        return Evaluation([folder.place], self.models(name), out, protocol=protocol, processes=self.readers)

    def _combinations(self) -> list[tuple[str, str, str, int]]:
        """Set, row, start and seed of every model, in the order of the patterns; the first seed of all sets first."""
        combinations = [
            (name, row, start, seed)
            for seed in self.seeds
            for name in self.sets
            for row, start in self._rows(name, seed)
        ]
        return sorted(combinations, key=lambda each: self._pattern(_label(*each)))

    def _pattern(self, place: str) -> int:
        """The number of the first matching pattern."""
        return next(number for number, pattern in enumerate(self.only) if fnmatch(place, pattern))

    def _rows(self, name: str, seed: int) -> list[tuple[str, str]]:
        """Rows and starts; a row that takes no other start comes once."""
        first = self.starts[0]
        every = [(row, start) for start in self.starts for row in self.rows if start == first or takes_start(row)]
        return [each for each in every if any(fnmatch(_label(name, *each, seed), pattern) for pattern in self.only)]

    def _training(self, name: str, row: str, start: str, seed: int) -> QueuedJob:
        model, changed = ROWS[row]
        place = _path(row, name, seed, start)
        settings: dict[str, Any] = {"cache": str(self.out / "tokens")} | start_settings(row, start, self.data)
        settings |= resolve_folders(changed, self.out, name, seed, Path(start).name) | prepared_minilm(row, self.data)
        settings |= settings_for(row, name, self.overrides) | {"seed": seed}
        work = Training(model, find_set(self.data, Path(place).parent.name), self.out / place, settings, self.readers)
        needs = tuple(_path(other, name, seed, start) for other in prerequisites([row]))
        return QueuedJob(place, work, self.out / f"{place}.log", needs, model in LARGE)

    def _measurement(self, name: str, row: str, start: str, seed: int) -> QueuedJob:
        place = _path(row, name, seed, start)
        models = evaluated_models(self.out / place, row, self.rules, self.readouts)
        work = Measurement(self.evaluation(name), tuple(models))
        needs = (place, *([f"{name}: untrained"] if self.untrained else []))
        return QueuedJob(f"{place}: measured", work, self.out / f"{place}.log", needs)

    def _untrained(self, name: str) -> QueuedJob:
        """Before the others: these tokenise the documents."""
        work = Measurement(self.evaluation(name), tuple(self.untrained))
        return QueuedJob(f"{name}: untrained", work, self.out / name / "untrained.log")

    def _further(self, name: str, model: str) -> QueuedJob:
        work = Measurement(self.evaluation(name), (model,))
        needs = (f"{name}: untrained",) if self.untrained else ()
        return QueuedJob(f"{name}/{model}", work, self.out / name / f"{model}.log", needs)


def _path(row: str, name: str, seed: int, start: str) -> str:
    return model_path(row, name, seed, Path(start).name)


def _label(name: str, row: str, start: str, seed: int) -> str:
    """SET/ROW-SEED, or SET/ROW-START-SEED: what the patterns of --only are about."""
    path = model_path(row, name, seed, Path(start).name)
    return f"{name}/{row}-{seed}" if ROWS[row][0] == PRETRAINED else path


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
    what = options.data, options.out, options.sets, options.rows, options.seeds, overrides
    how = options.measure, options.only, options.readers or cores, options.also, options.untrained, options.starts
    plan = BenchmarkPlan(*what, *how, options.rules, options.readouts, options.protocol)
    plan.restore_prepared()
    failed = run_all(plan.jobs(), jobs, cores)
    for name in [] if options.measure else options.sets:
        data, models = str(options.data / name), ",".join(plan.models(name))
        words = ["longmatch", "evaluate", "--data", data, "--models", models, "--protocol", "both"]
        print(f"To measure: {shlex.join(words)}")
    if failed:
        raise SystemExit(f"{failed} jobs failed; each log says why.")


if __name__ == "__main__":
    main()
