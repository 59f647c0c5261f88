"""The Hugging Face Trainer, adapted to recipes: batches are requested by number, the recipe computes the loss."""

from collections.abc import Callable, Iterator
from math import isfinite
from multiprocessing import get_all_start_methods
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed
from torch.nn.utils import get_total_norm
from torch.utils.data import DataLoader, Dataset, Sampler
from transformers import PrinterCallback, Trainer, TrainingArguments

from longmatch.errors import LongmatchError
from longmatch.lab.encoders.checkpoint import save_checkpoint
from longmatch.lab.encoders.ragged import fetch_async
from longmatch.lab.training.callbacks import (
    SELECTION_METRIC,
    ConsoleProgress,
    RunSchedule,
    ScheduleCallback,
    TensorBoardLog,
)
from longmatch.lab.training.recipe import Recipe, step_rng
from longmatch.lab.training.run import last_checkpoint, step_of
from longmatch.lab.training.settings import TrainingSettings


class RecipeTrainer(Trainer):  # type: ignore[misc]
    """Trains a recipe's model.

    Batches are numbered 0, 1, ... through the whole run; with w processes, process r takes the numbers n with
    n % w == r. Batches and dropout depend only on the number. So a resumed run ends like an uninterrupted one, and w
    processes end like a single one that accumulates w batches.
    """

    def __init__(
        self,
        recipe: Recipe[Any],
        settings: TrainingSettings,
        schedule: RunSchedule,
        args: TrainingArguments,
        progress: ConsoleProgress,
    ) -> None:
        self.recipe, self.settings, self.schedule, self.progress = recipe, settings, schedule, progress
        self.schedule_callback = ScheduleCallback(schedule)
        self.checkpoints = Path(str(args.output_dir))
        self.untrained = self.checkpoints.parent / "untrained"  # the weights of step 0
        callbacks = [self.schedule_callback, progress, TensorBoardLog(self.checkpoints.parent / "logs")]
        super().__init__(model=recipe.model, args=args, callbacks=callbacks)
        self.remove_callback(PrinterCallback)
        self._sums: dict[str, Tensor] = {}  # of each loss, since the last log line
        self._batches = 0
        self._pending: tuple[int, Callable[[], Tensor]] | None = None  # a step; fetches its loss and gradient norm

    def get_train_dataloader(self) -> DataLoader[Any]:
        """The remaining batches, sampled in other processes."""
        workers = self.settings.workers
        if workers is None:
            workers = 4 if self.args.device.type == "cuda" else 0
        method = "fork" if workers and "fork" in get_all_start_methods() else None  # a fork need not pickle the model
        return DataLoader(
            _NumberedBatches(self.recipe),
            batch_size=None,
            sampler=_BatchNumbers(self),
            num_workers=workers,
            collate_fn=_identity,
            multiprocessing_context=method,
            generator=torch.Generator(),  # otherwise the loader draws from torch's global generator
        )

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        """AdamW with one learning rate for pretrained layers and another for new ones."""
        if self.optimizer is None:
            optimizer, options = self.get_optimizer_cls_and_kwargs(self.args, self.recipe.model)
            decayed = set(self.get_decay_parameter_names(self.recipe.model))
            weights: dict[tuple[bool, bool], list[Tensor]] = {}  # pretrained and new ones, with and without decay
            for name, weight in self.recipe.model.named_parameters():
                if weight.requires_grad:
                    weights.setdefault((self.recipe.is_new(name), name not in decayed), []).append(weight)
            groups = []
            for is_new, is_plain in sorted(weights):
                rate = self.settings.new_layers_rate if is_new else self.settings.learning_rate
                decay = 0.0 if is_plain else self.args.weight_decay
                groups.append({"params": weights[is_new, is_plain], "lr": rate, "weight_decay": decay})
            self.optimizer = optimizer(groups, **options)
        return self.optimizer

    def get_batch_samples(self, epoch_iterator: Iterator[Any], num_batches: int, device: Any) -> tuple[list[Any], None]:
        """The batches of one step. They are not dictionaries, so the Trainer must not look for labels in them."""
        return [batch for _, batch in zip(range(num_batches), epoch_iterator, strict=False)], None

    def floating_point_ops(self, inputs: Any) -> int:
        """Not counted: batches are not dictionaries."""
        return 0

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> Tensor:
        """Add the gradient of one batch; after the last batch of a step, average."""
        number, batch = inputs
        self.progress.tokens += batch.tokens * self.args.world_size
        self.recipe.model.train()
        torch.manual_seed(int(step_rng(self.settings.seed, number).integers(2**63)))
        with self.autocast():
            losses = self.recipe.backward(self.recipe.model, batch.to(self.args.device))
        for name, loss in losses.items():
            self._sums[name] = self._sums.get(name, torch.zeros_like(loss)) + loss.detach()
        self._batches += 1
        if self.accelerator.sync_gradients:
            average_gradients(self.recipe.model, self.schedule.batches_per_step, self.args.world_size)
            norm = get_total_norm([weight.grad for weight in self.recipe.model.parameters() if weight.grad is not None])
            values = torch.stack([(self._sums["loss"] / self._batches).float(), norm.float()])
            if self.args.world_size > 1:
                distributed.all_reduce(values)  # all processes stop, or none
            self._check_finite()
            self._pending = self.state.global_step + 1, fetch_async(values / self.args.world_size)
            if not self._checks_late:
                self._check_finite()
        return losses["loss"].detach() / self.settings.accumulate

    @property
    def _checks_late(self) -> bool:
        """On a GPU loss and gradient are checked one step late, so that they need not be waited for."""
        return bool(self.args.device.type == "cuda")

    def _check_finite(self) -> None:
        """Raise before weights from a non-finite loss or gradient are validated or saved."""
        if self._pending is None:
            return
        step, fetch = self._pending
        self._pending = None
        loss, norm = fetch().tolist()
        self.progress.loss = loss
        if not isfinite(loss):
            raise self._stopped(f"loss at step {step} is {loss}")
        if not isfinite(norm):
            raise self._stopped(f"gradient at step {step} is {norm}")

    def _stopped(self, why: str) -> LongmatchError:
        last = last_checkpoint(self.checkpoints)
        saved = f"the weights of step {step_of(last)} remain in {last}" if last else "nothing was saved before it"
        rate = self.settings.learning_rate
        return LongmatchError(
            f"The {why}, so training stopped. Train into another folder with a learning_rate below {rate:g}; {saved}."
        )

    @torch.no_grad()
    def evaluate(self, *unused: Any, **others: Any) -> dict[str, float]:
        """The recipe's measures on the validation split, computed by the first process."""
        self._check_finite()
        self.recipe.model.eval()
        shared: list[dict[str, float]] = [{}]
        if self.is_world_process_zero():
            with self.autocast():
                shared = [{name: float(value) for name, value in self.recipe.validate(self.recipe.model).items()}]
        if self.args.world_size > 1:
            distributed.broadcast_object_list(shared)
        measures = shared[0]
        first = next(iter(measures))
        selection = -measures[first] if first.endswith("loss") else measures[first]
        if not isfinite(selection):
            raise self._stopped(f"{first} on the validation split at step {self.state.global_step} is {selection}")
        metrics = {f"eval_{name}": value for name, value in measures.items()} | {SELECTION_METRIC: selection}
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        if self.state.global_step == 0:  # later the Trainer does this itself
            self._determine_best_metric(metrics, None)
        return metrics

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Write a log line, with the other losses, the speed and the correct epoch added."""
        self.state.epoch = self.state.global_step * self.schedule.batches_per_step / self.recipe.steps_per_epoch
        if "loss" in logs:
            others = {name: float(value) / self._batches for name, value in self._sums.items() if name != "loss"}
            logs |= others | {"tokens_a_second": self.progress.tokens_per_second}
            self._sums, self._batches = {}, 0
        super().log(logs)

    def autocast(self) -> torch.autocast:
        """The precision of the settings. Casts are not cached: those of a no-grad pass would block later gradients."""
        kind, wanted = self.args.device.type, self.settings.precision
        native = kind == "cuda" and torch.cuda.is_bf16_supported()
        enabled = wanted == "bfloat16" or (wanted == "auto" and native)
        return torch.autocast(kind, torch.bfloat16, enabled=enabled, cache_enabled=False)

    def load_best(self) -> dict[str, float]:
        """Load the weights of the best validation and return its measures."""
        best = int(self.state.best_global_step or 0)
        if best != self.state.global_step:
            saved = self.checkpoints / f"checkpoint-{best}" if best else self.untrained
            self._load_from_checkpoint(str(saved))
        line = next(line for line in self.state.log_history if line["step"] == best and SELECTION_METRIC in line)
        keys = [key for key in line if key.startswith("eval_") and key != SELECTION_METRIC]
        return {key.removeprefix("eval_"): line[key] for key in keys}

    def _save_checkpoint(self, *arguments: Any) -> None:
        self._check_finite()
        super()._save_checkpoint(*arguments)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Save config and weights, without the Trainer's pickled arguments; of several processes the first one does."""
        if self.is_world_process_zero():
            save_checkpoint(self.recipe.model, Path(str(output_dir)))

    def _save_rng_state(self, output_dir: str) -> None:
        """Not saved: every batch reseeds torch."""

    def _load_rng_state(self, checkpoint: str | None) -> None:
        """Not saved, so not loaded."""

    def _issue_warnings_after_load(self, load_result: Any) -> None:
        """Refuse a checkpoint that does not fit the model: training would resume from different weights."""
        if load_result.unexpected_keys:
            raise LongmatchError(
                f"The weights in {self.checkpoints} do not fit the model ({load_result.unexpected_keys[0]}). "
                "Train into another folder."
            )


class _BatchNumbers(Sampler[int]):
    """The numbers of this process's remaining batches; none once the run has stopped early."""

    def __init__(self, trainer: RecipeTrainer) -> None:
        self.trainer = trainer

    def __len__(self) -> int:
        return self.trainer.schedule.steps * self.trainer.settings.accumulate  # of the whole run

    def __iter__(self) -> Iterator[int]:
        trainer, processes = self.trainer, self.trainer.args.world_size
        first = trainer.state.global_step * trainer.settings.accumulate
        last = first if trainer.schedule_callback.is_stale(trainer.state) else len(self)
        return iter(range(first * processes + trainer.args.process_index, last * processes, processes))


class _NumberedBatches(Dataset[Any]):
    """A recipe's batches by number."""

    def __init__(self, recipe: Recipe[Any]) -> None:
        self.recipe = recipe

    def __getitem__(self, number: int) -> tuple[int, Any]:
        return number, self.recipe.draw(number)


def _identity(batch: Any) -> Any:
    return batch


def average_gradients(model: torch.nn.Module, batches: int, processes: int) -> None:
    """Divide the gradients summed over a step's batches, in all processes, by the number of batches.

    Done by hand because a recipe may backpropagate in pieces, which DistributedDataParallel's hooks do not support.
    A weight without a gradient counts as zero if another process has one for it.
    """
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    if processes > 1:
        used = torch.tensor([weight.grad is not None for weight in weights], device=weights[0].device).int()
        distributed.all_reduce(used, distributed.ReduceOp.MAX)
        weights = [weight for weight, is_used in zip(weights, used.tolist(), strict=True) if is_used]
        flat = torch.cat([(torch.zeros_like(w) if w.grad is None else w.grad).flatten() for w in weights])
        distributed.all_reduce(flat)
        for weight, part in zip(weights, flat.split([w.numel() for w in weights]), strict=True):
            weight.grad = part.view_as(weight)
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    if gradients and batches > 1:
        torch._foreach_div_(gradients, batches)
