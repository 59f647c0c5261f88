"""The model card of a trained model: README.md, as on the Hugging Face hub, and longmatch.json."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmatch.lab.training.recipe import Recipe
from longmatch.lab.training.run import RECORD, TrainingRun


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
