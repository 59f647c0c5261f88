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
from transformers import TrainerState

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
                if not self._has_begun:  # readers never see part of the record
                    partial = self.work_folder / "run.json.partial"
                    partial.write_text(json.dumps(wanted, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
                    partial.replace(self.work_folder / "run.json")
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
        if not self._has_begun:
            if self.out.is_dir() and any(path.name != "training" for path in self.out.iterdir()):
                raise LongmatchError(f"{self.out} holds other files. Name a new folder with --out.")
            return
        stored = json.loads((self.work_folder / "run.json").read_text(encoding="utf-8"))
        facts, old_facts = ({**each, **each.get("settings", {})} for each in (wanted, stored))
        for key in ("model", "data", "processes", *(key for key in wanted["settings"] if key not in IRRELEVANT)):
            if facts[key] != old_facts.get(key):
                raise LongmatchError(
                    f"{self.out} holds a training run with {key} {old_facts.get(key)}, not {facts[key]}. "
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


def step_of(checkpoint: Path) -> int:
    """The step after which a checkpoint was written.

    >>> step_of(Path("checkpoints/checkpoint-300"))
    300
    """
    return int(checkpoint.name.rpartition("-")[2])


def last_checkpoint(folder: Path, remove_incomplete: bool = False) -> Path | None:
    """The latest complete checkpoint; those that were being written when a run was killed may be removed."""
    paths = [path for path in folder.glob("checkpoint-*") if path.name.rpartition("-")[2].isdigit()]
    complete = []
    for path in sorted(paths, key=step_of):
        try:
            whole = bool(json.loads((path / STATE).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            whole = False
        if whole:
            complete.append(path)
        elif remove_incomplete:
            shutil.rmtree(path)
    return complete[-1] if complete else None


def write_card(
    folder: Path, recipe: Recipe[Any], run: TrainingRun, measures: Mapping[str, float], state: TrainerState
) -> None:
    """Write README.md and longmatch.json into a folder; `measures` are those of the best weights on the validation
    split, of which the first one selected them.
    """
    scores = {name: value for name, value in measures.items() if name != "threshold"}
    loss = next(line["loss"] for line in reversed(state.log_history) if "loss" in line)
    steps, best = state.global_step, int(state.best_global_step or 0)
    record = {
        "model": recipe.name,
        "rule": recipe.rule,
        "seed": run.settings.seed,
        "data": list(run.data),
        "settings": run.all_settings,
        "scores": scores,
        "threshold": measures.get("threshold"),
        "steps": steps,
        "best_step": best,
        "loss": loss,
        "facts": dict(recipe.facts),
        "command": run.command,
    }
    (folder / RECORD).write_text(json.dumps(record, indent=2, ensure_ascii=False, default=str) + "\n", encoding="utf-8")
    selected = f"Of the weights after step {best} of {steps}, the best by the first of these."
    if best == 0:
        selected = f"Of the untrained weights: after none of {steps} steps was the first of these better."
    data = ", ".join(Path(path).name for path in run.data)
    facts = {"read from": ", ".join(run.data)} | {key.replace("_", " "): value for key, value in recipe.facts.items()}
    text = f"""\
---
{_hub_card(recipe, data, scores)}
---

# {recipe.name} trained on {data}

{recipe.use.format(place=str(run.out))}
## Data
{_table("", facts)}

## Scores on the validation split
{selected} The last training loss was {loss:.4f}.
{_table("measure", {key: f"{value:.4f}" for key, value in measures.items()})}

## Training
Seed {run.settings.seed}.

```
{run.command}
```
{_table("setting", {f"`{key}`": value for key, value in run.all_settings.items()})}
"""
    (folder / "README.md").write_text(text, encoding="utf-8")


def _hub_card(recipe: Recipe[Any], data: str, scores: Mapping[str, float]) -> str:
    """The YAML block that the hub reads."""
    from huggingface_hub import EvalResult, ModelCardData

    results = [
        EvalResult("sentence-similarity", data, data, metric, round(value, 6), dataset_split="validation")
        for metric, value in scores.items()
    ]
    card = ModelCardData(
        library_name="longmatch",
        pipeline_tag="sentence-similarity",
        tags=["longmatch", recipe.name, "long-documents", "document-similarity"],
        base_model=str(recipe.facts["backbone"]) if "backbone" in recipe.facts else None,
        model_name=f"{recipe.name} trained on {data}",
        eval_results=results,
    )
    return str(card.to_yaml())


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
