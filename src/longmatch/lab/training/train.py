"""Train a model: from data folders to a folder that `longmatch.load` opens."""

import gc
import os
import shutil
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmatch.addresses import resolve
from longmatch.errors import LongmatchError
from longmatch.lab.training.run import TrainingRun
from longmatch.lab.training.settings import TrainingSettings, fill
from longmatch.models.registry import models, names_of

if TYPE_CHECKING:
    from transformers import TrainingArguments

    from longmatch.lab.training.callbacks import ConsoleProgress
    from longmatch.lab.training.recipe import Recipe
    from longmatch.lab.training.trainer import RecipeTrainer

AnyPath = str | os.PathLike[str]
SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}
PROCESS_TIMEOUT = 4 * 3600  # seconds the others wait for the first process to read the data or to validate


def find_recipe(name: str) -> "type[Recipe[Any]]":
    """The recipe of the model of that name; or your own, as `package.module:Class`."""
    declared = models()[name].recipe if name in models() else ""
    if not declared and ":" not in name:
        raise LongmatchError(f"There is no model {name} to train. Name one of {', '.join(names_of('recipe'))}.")
    try:
        recipe: type[Recipe[Any]] = resolve(declared or name)
    except (ModuleNotFoundError, AttributeError) as error:
        if declared:
            raise
        raise LongmatchError(f"There is no recipe {name} ({error}). Write package.module:Class.") from error
    return recipe


def train(model: str, data: AnyPath | Sequence[AnyPath], out: AnyPath, /, **settings: Any) -> Path:
    """Train a declared model, or a recipe's address, on data folders or files into the folder `out`, which is returned.

    `settings` are those of TrainingSettings and the model's own; `preset="paper"` gives those left out the values of
    the model's paper. Called again with the same settings, an interrupted run resumes and a finished one is left as it
    is. Under torchrun or accelerate, several processes share a run.
    """
    if find_spec("accelerate") is None:
        raise LongmatchError("Training needs accelerate. Install it: pip install 'longmatch[train]'.")
    paths = [data] if isinstance(data, str | os.PathLike) else list(data)
    if not paths:
        raise LongmatchError("There is no data to train on. Name a data folder or file with --data.")
    recipe_class = find_recipe(model)
    preset = settings.get("preset")
    if preset is not None and preset not in recipe_class.presets:
        known = f"Name one of {', '.join(recipe_class.presets)}." if recipe_class.presets else "Leave it out."
        raise LongmatchError(f"The model {recipe_class.name} has no preset {preset}. {known}")
    defaults = {**recipe_class.defaults, **recipe_class.presets.get(preset or "", {})}
    shared, options = fill(settings, [TrainingSettings, recipe_class.Settings], defaults)
    run = TrainingRun(model, tuple(str(path) for path in paths), Path(out), shared, options, settings)
    args = _arguments(run)

    from longmatch.lab.training.callbacks import ConsoleProgress

    first, several = args.process_index == 0, args.world_size > 1
    progress = ConsoleProgress(shown=first)
    failure: LongmatchError | None = None
    try:
        with run.locked(args.world_size) if first else nullcontext():
            if run.is_done:
                progress.print(f"{run.out} is already trained; name another folder with --out to train again.")
            else:
                _train(run, recipe_class, args, progress)
    except LongmatchError as error:
        if not several:
            raise
        failure = error.with_traceback(None)  # its frames hold the connection to the other processes
    finally:
        args.distributed_state.destroy_process_group()
        if several:
            gc.collect()  # a connection thread that outlives the interpreter would abort the process
    if failure is not None:
        raise failure
    return run.out


def _train(
    run: TrainingRun, recipe_class: "type[Recipe[Any]]", args: "TrainingArguments", progress: "ConsoleProgress"
) -> None:
    import torch

    from longmatch.lab.encoders.checkpoint import save_checkpoint
    from longmatch.lab.training.callbacks import RunSchedule
    from longmatch.lab.training.run import last_checkpoint, step_of
    from longmatch.lab.training.trainer import RecipeTrainer

    torch.manual_seed(run.settings.seed)
    with progress.console.status("reading the data"), args.main_process_first(local=False):
        recipe = recipe_class.make([Path(path) for path in run.data], run.cache, run.settings, run.options)
    schedule = RunSchedule.of(run.settings, recipe.steps_per_epoch, args.world_size)
    args.max_steps, args.warmup_steps = schedule.steps, ceil(schedule.steps * run.settings.warmup)
    trainer = RecipeTrainer(recipe, run.settings, schedule, args, progress)
    last = last_checkpoint(trainer.checkpoints, remove_incomplete=trainer.is_world_process_zero())
    if trainer.is_world_process_zero():
        steps = f"resuming at step {step_of(last)} of {schedule.steps}" if last else f"{schedule.steps} steps"
        processes = f" in {args.world_size} processes" if args.world_size > 1 else ""
        progress.print(f"Training {run.model} on {args.device.type}{processes}: {steps}.")
    if last is None:
        args.eval_on_start = True  # the weights of step 0 are kept if no later ones are better
        if trainer.is_world_process_zero():
            save_checkpoint(recipe.model, trainer.untrained)
    try:
        with progress.bar:
            trainer.train(resume_from_checkpoint=str(last) if last else None)
    except torch.OutOfMemoryError as error:
        raise LongmatchError(
            f"The device has too little memory for step {trainer.state.global_step + 1}. Set tokens_at_once below "
            f"{recipe.tokens_per_pass}, in another folder."
        ) from error
    scores = trainer.load_best()
    if trainer.is_world_process_zero():
        _finish(run, recipe, trainer, scores)
        name, value = next(iter(scores.items()))
        best = trainer.state.best_global_step
        kept = f"at step {best}" if best else "before training, which no step improved on; its weights are kept"
        progress.print(f"{run.out} is trained: {name} {value:.4f} {kept}.")


def _finish(run: TrainingRun, recipe: "Recipe[Any]", trainer: "RecipeTrainer", measures: dict[str, float]) -> None:
    """Write the model and its card next to the checkpoints, then move them into place."""
    from longmatch.lab.training.run import write_card

    if "threshold" in measures:
        recipe.model.config.threshold = measures["threshold"]
    folder = run.work_folder / "model.partial"
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir()
    recipe.save(folder)
    write_card(folder, recipe, run, measures, trainer.state)
    run.finish(folder)


def _arguments(run: TrainingRun) -> "TrainingArguments":
    """The arguments of the Hugging Face Trainer; the number of steps is set once the data are open."""
    import torch
    from transformers import TrainingArguments
    from transformers.utils import logging

    from longmatch.lab.training.callbacks import SELECTION_METRIC

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    settings = run.settings
    on_cpu = settings.device == "cpu" or not torch.cuda.is_available()
    args = TrainingArguments(
        output_dir=str(run.work_folder / "checkpoints"),
        seed=settings.seed,
        max_steps=1,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        lr_scheduler_type=SCHEDULES[settings.schedule],
        max_grad_norm=settings.clip,
        gradient_accumulation_steps=settings.accumulate,
        metric_for_best_model=SELECTION_METRIC.removeprefix("eval_"),
        greater_is_better=True,
        save_strategy="steps",  # at the steps that `ScheduleCallback` chooses
        save_steps=10**9,
        save_total_limit=settings.keep,
        logging_steps=10,
        logging_nan_inf_filter=False,
        ignore_data_skip=True,
        report_to="none",
        disable_tqdm=True,
        log_level="error",
        log_level_replica="error",
        use_cpu=on_cpu,
        ddp_timeout=PROCESS_TIMEOUT,
    )
    if args.n_gpu > 1:  # one process uses one GPU
        args._n_gpu = 1
    return args
