"""A training run and its folder: new, interrupted or finished."""

import json
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from longmatch.errors import LongmatchError
from longmatch.lab.training.recipe import Recipe
from longmatch.lab.training.settings import TrainingSettings

RECORD = "longmatch.json"  # identifies a model's folder to longmatch.load; written last, so a folder with it is whole
IRRELEVANT = ("workers", "keep", "cache")  # settings that do not affect the result
STATE = "trainer_state.json"  # the Trainer writes it last


@dataclass(frozen=True)
class TrainingRun:
    """What the user asked for: a model, its data, the output folder, and all settings."""

    model: str
    data: tuple[str, ...]
    out: Path
    settings: TrainingSettings
    options: Any  # the model's own settings, a dataclass
    overrides: Mapping[str, Any]  # the settings that were given explicitly

    @property
    def work_folder(self) -> Path:
        """The folder of checkpoints, logs and prepared data."""
        return self.out / "training"

    @property
    def cache(self) -> Path:
        """The folder of prepared data."""
        return Path(self.settings.cache) if self.settings.cache else self.work_folder / "data"

    @property
    def all_settings(self) -> dict[str, Any]:
        """The shared settings and the model's own."""
        return asdict(self.settings) | asdict(self.options)

    @property
    def command(self) -> str:
        """The command line that trains the same model again."""
        words = ["longmatch", "train", self.model]
        for path in self.data:
            words += ["--data", path]
        words += ["--out", str(self.out)]
        for key, value in self.overrides.items():
            words += ["--set", f"{key}={value}"]
        return shlex.join(words)

    @property
    def is_done(self) -> bool:
        """Whether the trained model is complete."""
        return (self.out / RECORD).is_file()

    @contextmanager
    def locked(self, processes: int) -> Iterator[None]:
        """Lock the folder for this run; raise an error if it holds another run or other files."""
        facts = {"model": self.model, "data": list(self.data), "settings": self.all_settings, "processes": processes}
        wanted = json.loads(json.dumps(facts))
        try:
            self._check(wanted)
            self.work_folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.work_folder / "lock", timeout=0):
                self._check(wanted)
                if not self._has_begun:
                    write_atomically(
                        self.work_folder / "run.json", json.dumps(wanted, indent=2, ensure_ascii=False) + "\n"
                    )
                yield
        except Timeout:
            raise LongmatchError(
                f"Another process is training into {self.out}. Wait, or name another folder."
            ) from None
        except OSError as error:
            if error.filename is None or not str(error.filename).startswith(str(self.out)):
                raise
            why = error.strerror
            raise LongmatchError(f"{self.out} cannot be written ({why}). Name a folder you may write to.") from error

    def _check(self, wanted: dict[str, Any]) -> None:
        if self.out.exists() and not self.out.is_dir():
            raise LongmatchError(f"{self.out} is a file. Name a folder with --out.")
        record = self.work_folder / "run.json"
        if not self._has_begun:
            if self.out.is_dir() and any(path.name != "training" for path in self.out.iterdir()):
                raise LongmatchError(f"{self.out} holds other files. Name a new folder with --out.")
            return
        stored = json.loads(record.read_text(encoding="utf-8"))
        for key, now, then in _differences(wanted, stored):
            raise LongmatchError(
                f"{self.out} holds a training run with {key} {then}, not {now}. "
                "Name another folder with --out, or use the same settings to resume it."
            )

    @property
    def _has_begun(self) -> bool:
        """Whether the folder holds a run that got further than its settings: to prepared data, weights, checkpoints."""
        if not (self.work_folder / "run.json").is_file():
            return False
        return self.is_done or any(path.name not in ("run.json", "lock") for path in self.work_folder.iterdir())

    def finish(self, folder: Path) -> None:
        """Move the trained model's files from `folder` into place, the record last."""
        names = sorted((path.name for path in folder.iterdir()), key=lambda name: name == RECORD)
        for name in names:
            target = self.out / name
            if target.is_dir():
                shutil.rmtree(target)
            (folder / name).replace(target)
        folder.rmdir()


def write_atomically(path: Path, text: str) -> None:
    """Write a file so that readers never see part of it."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _differences(wanted: dict[str, Any], stored: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The keys in which two runs differ, with both values."""
    for key in ("model", "data", "processes"):
        if wanted[key] != stored.get(key):
            yield key, wanted[key], stored.get(key)
    then = stored.get("settings", {})
    for key, now in wanted["settings"].items():
        if key not in IRRELEVANT and now != then.get(key):
            yield key, now, then.get(key)


def checkpoint_path(folder: Path, step: int) -> Path:
    """Where the Trainer saves the state after a step."""
    return folder / f"checkpoint-{step}"


def last_checkpoint(folder: Path) -> Path | None:
    """The latest complete checkpoint."""
    return next((path for path in reversed(_all(folder)) if is_complete(path)), None)


def remove_incomplete(folder: Path) -> None:
    """Remove checkpoints that were being written when a run was killed."""
    for path in _all(folder):
        if not is_complete(path):
            shutil.rmtree(path)


def is_complete(path: Path) -> bool:
    """Whether a checkpoint was written to its end."""
    try:
        return bool(json.loads((path / STATE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return False


def step_of(path: Path) -> int:
    """The step after which a checkpoint was written.

    >>> step_of(Path("checkpoints/checkpoint-300"))
    300
    """
    return int(path.name.rpartition("-")[2])


def _all(folder: Path) -> list[Path]:
    paths = [path for path in folder.glob("checkpoint-*") if path.name.rpartition("-")[2].isdigit()]
    return sorted(paths, key=step_of)


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    scores: Mapping[str, float]  # validation measures of the best weights; the first one selected them
    threshold: float | None  # the score from which a pair counts as a match
    steps: int  # run
    best: int  # the step of the best weights
    loss: float  # of the last log line


def write_card(folder: Path, recipe: Recipe[Any], run: TrainingRun, outcome: Outcome) -> None:
    """Write README.md and longmatch.json into a folder."""
    record = {
        "model": recipe.name,
        "rule": recipe.rule,
        "seed": run.settings.seed,
        "data": list(run.data),
        "settings": run.all_settings,
        "scores": dict(outcome.scores),
        "threshold": outcome.threshold,
        "steps": outcome.steps,
        "best_step": outcome.best,
        "loss": outcome.loss,
        "facts": dict(recipe.facts),
        "command": run.command,
    }
    (folder / RECORD).write_text(json.dumps(record, indent=2, ensure_ascii=False, default=str) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(
        _front_matter(recipe, run, outcome) + _body(recipe, run, outcome), encoding="utf-8"
    )


def _front_matter(recipe: Recipe[Any], run: TrainingRun, outcome: Outcome) -> str:
    """The YAML block that the hub reads."""
    from huggingface_hub import EvalResult, ModelCardData

    data = ", ".join(Path(path).name for path in run.data)
    results = [
        EvalResult("sentence-similarity", data, data, metric, round(value, 6), dataset_split="validation")
        for metric, value in outcome.scores.items()
    ]
    card = ModelCardData(
        library_name="longmatch",
        pipeline_tag="sentence-similarity",
        tags=["longmatch", recipe.name, "long-documents", "document-similarity"],
        base_model=str(recipe.facts["backbone"]) if "backbone" in recipe.facts else None,
        model_name=f"{recipe.name} trained on {data}",
        eval_results=results,
    )
    return f"---\n{card.to_yaml()}\n---\n"


def _body(recipe: Recipe[Any], run: TrainingRun, outcome: Outcome) -> str:
    data = ", ".join(Path(path).name for path in run.data)
    scores = dict(outcome.scores) | ({} if outcome.threshold is None else {"threshold": outcome.threshold})
    return f"""
# {recipe.name} trained on {data}

{recipe.use.format(place=str(run.out))}
## Data
{_table("", {"read from": ", ".join(run.data)} | {key.replace("_", " "): value for key, value in recipe.facts.items()})}

## Scores on the validation split
{_selection(outcome)} The last training loss was {outcome.loss:.4f}.
{_table("measure", {key: f"{value:.4f}" for key, value in scores.items()})}

## Training
Seed {run.settings.seed}.

```
{run.command}
```
{_table("setting", {f"`{key}`": value for key, value in run.all_settings.items()})}
"""


def _selection(outcome: Outcome) -> str:
    """Which weights the model has."""
    if outcome.best == 0:
        return f"Of the untrained weights: after none of {outcome.steps} steps was the first of these better."
    return f"Of the weights after step {outcome.best} of {outcome.steps}, the best by the first of these."


def _table(head: str, rows: Mapping[str, Any]) -> str:
    lines = [f"| {key} | {_text(value).replace('|', chr(92) + '|')} |" for key, value in rows.items()]
    return "\n".join(["", f"| {head} | |", "|---|---|", *lines])


def _text(value: Any) -> str:
    """A value as text; nested mappings and lists are flattened.

    >>> _text({"train": {"matches": 30, "others": 30}, "test": {"matches": 2, "others": 1}})
    'train: matches 30, others 30; test: matches 2, others 1'
    """
    if isinstance(value, Mapping):
        nested = any(isinstance(part, Mapping) for part in value.values())
        parts = [f"{key.replace('_', ' ')}{':' if nested else ''} {_text(part)}" for key, part in value.items()]
        return ("; " if nested else ", ").join(parts)
    if isinstance(value, list | tuple):
        return "; ".join(_text(part) for part in value)
    return str(value)
