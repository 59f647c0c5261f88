"""One Trainer for all models: Hugging Face's, reading batches by their number and leaving the loss to a recipe."""

from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed
from torch.nn.utils import get_total_norm
from torch.utils.data import DataLoader, Sampler
from transformers import PrinterCallback, Trainer, TrainingArguments

from longmatch.encoders.transfer import fetch_async
from longmatch.errors import LongmatchError
from longmatch.lab.training.checkpoints import checkpoint_of, last_checkpoint, step_of
from longmatch.lab.training.flow import DECIDING, Flow, Plan
from longmatch.lab.training.gradients import average_gradients
from longmatch.lab.training.loading import batch_loader
from longmatch.lab.training.progress import Board, Watch
from longmatch.lab.training.recipe import Recipe
from longmatch.lab.training.samplers import chance
from longmatch.lab.training.settings import TrainingSettings


class RecipeTrainer(Trainer):  # type: ignore[misc]
    """Trains a recipe's model.

    Batches are numbered 0, 1, ... through the whole run; of w processes, process r takes those that leave r when
    divided by w. What a batch holds and what dropout hides depend on its number alone. So a run that goes on from a
    checkpoint ends as one that was never stopped, and w processes end as one that accumulates w batches.
    """

    def __init__(
        self, recipe: Recipe[Any], settings: TrainingSettings, plan: Plan, args: TrainingArguments, watch: Watch
    ) -> None:
        self.recipe, self.settings, self.plan, self.watch, self.flow = recipe, settings, plan, watch, Flow(plan)
        self.checkpoints = Path(str(args.output_dir))
        callbacks = [self.flow, watch, Board(self.checkpoints.parent / "logs")]
        super().__init__(model=recipe.model, args=args, callbacks=callbacks)
        self.remove_callback(PrinterCallback)
        self._sums: dict[str, Tensor] = {}  # of each loss, since the log's last line
        self._batches = 0
        self._asked: tuple[int, Callable[[], Tensor]] | None = None  # a step, and what tells its loss and gradient

    def get_train_dataloader(self) -> DataLoader[Any]:
        """The batches that are still to come, drawn in other processes."""
        workers = self.settings.workers
        if workers is None:
            workers = 4 if self.args.device.type == "cuda" else 0
        return batch_loader(self.recipe, _Numbers(self), workers)

    def get_batch_samples(self, epoch_iterator: Iterator[Any], num_batches: int, device: Any) -> tuple[list[Any], None]:
        """The batches of one step. They are no dictionaries, so the Trainer cannot look for labels in them."""
        return [batch for _, batch in zip(range(num_batches), epoch_iterator, strict=False)], None

    def floating_point_ops(self, inputs: Any) -> int:
        """Not counted, for the same reason."""
        return 0

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> Tensor:
        """Add the gradient of one batch; after a step's last batch take the mean over all of them."""
        number, batch = inputs
        self.watch.read(batch.tokens * self.args.world_size)
        self.recipe.model.train()
        torch.manual_seed(int(chance(self.settings.seed, number).integers(2**63)))
        with self.autocast():
            losses = self.recipe.backward(self.recipe.model, batch.to(self.args.device))
        for name, loss in losses.items():
            self._sums[name] = self._sums.get(name, torch.zeros_like(loss)) + loss.detach()
        self._batches += 1
        if self.accelerator.sync_gradients:
            average_gradients(self.recipe.model, self.plan.batches_per_step, self.args.world_size)
            self._ask_if_finite()
        return losses["loss"].detach() / self.settings.accumulate

    def _ask_if_finite(self) -> None:
        """Look whether loss and gradient are numbers; on a GPU at those of the step before, not to wait for it."""
        norm = get_total_norm([weight.grad for weight in self.recipe.model.parameters() if weight.grad is not None])
        found = torch.stack([(self._sums["loss"] / self._batches).float(), norm.float()])
        if self.args.world_size > 1:
            distributed.all_reduce(found)  # all processes stop, or none
        self._check_finite()
        self._asked = self.state.global_step + 1, fetch_async(found / self.args.world_size)
        if not self._looks_back:
            self._check_finite()

    @property
    def _looks_back(self) -> bool:
        return bool(self.args.device.type == "cuda")

    def _check_finite(self) -> None:
        """Stop before weights from a loss or a gradient that is no number are measured or saved."""
        if self._asked is None:
            return
        step, told = self._asked
        self._asked = None
        loss, length = told().tolist()
        self.watch.loss = loss
        if not isfinite(loss):
            raise self._stopped(f"loss at step {step} is {loss}")
        if not isfinite(length):
            raise self._stopped(f"gradient at step {step} is {length}")

    def _stopped(self, why: str) -> LongmatchError:
        last = last_checkpoint(self.checkpoints)
        stays = f"what was learnt up to step {step_of(last)} stays in {last}" if last else "nothing was saved before it"
        rate = self.settings.learning_rate
        return LongmatchError(
            f"The {why}, so training stopped. Train into another folder with a learning_rate below {rate:g}; {stays}."
        )

    @torch.no_grad()
    def evaluate(self, *unused: Any, **others: Any) -> dict[str, float]:
        """The recipe's measures on the validation split, by the first process."""
        self._check_finite()
        self.recipe.model.eval()
        found: list[dict[str, float]] = [{}]
        if self.is_world_process_zero():
            with self.autocast():
                found = [{name: float(value) for name, value in self.recipe.validate(self.recipe.model).items()}]
        if self.args.world_size > 1:
            distributed.broadcast_object_list(found)
        first = next(iter(found[0]))
        decides = -found[0][first] if first.endswith("loss") else found[0][first]
        if not isfinite(decides):
            raise self._stopped(f"{first} on the validation split at step {self.state.global_step} is {decides}")
        metrics = {f"eval_{name}": value for name, value in found[0].items()} | {DECIDING: decides}
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """A line of the log: the other losses and the speed are added, and the true epoch."""
        self.state.epoch = self.state.global_step * self.plan.batches_per_step / self.recipe.steps_per_epoch
        if "loss" in logs:
            others = {name: float(value) / self._batches for name, value in self._sums.items() if name != "loss"}
            logs |= others | {"tokens_a_second": self.watch.tokens_a_second}
            self._sums, self._batches = {}, 0
        super().log(logs)

    def autocast(self) -> torch.autocast:
        """The precision asked for. No casts are kept: those of a pass without gradients would stop later gradients."""
        kind, wanted = self.args.device.type, self.settings.precision
        native = kind == "cuda" and torch.cuda.is_bf16_supported()
        enabled = wanted == "bfloat16" or (wanted == "auto" and native)
        return torch.autocast(kind, torch.bfloat16, enabled=enabled, cache_enabled=False)

    def load_best(self) -> dict[str, float]:
        """Take the weights of the best validation; its measures."""
        best = int(self.state.best_global_step or 0)
        if best != self.state.global_step:
            self._load_from_checkpoint(str(checkpoint_of(self.checkpoints, best)))
        line = next(line for line in self.state.log_history if line["step"] == best and DECIDING in line)
        return {key.removeprefix("eval_"): line[key] for key in line if key.startswith("eval_") and key != DECIDING}

    def _save_checkpoint(self, *given: Any) -> None:
        self._check_finite()
        super()._save_checkpoint(*given)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Config and weights, without the Trainer's pickle of its settings."""
        self.recipe.model.save_pretrained(str(output_dir))

    def _save_rng_state(self, output_dir: str) -> None:
        """Nothing to keep: each batch seeds torch anew."""

    def _load_rng_state(self, checkpoint: str | None) -> None:
        """Nothing was kept."""

    def _issue_warnings_after_load(self, load_result: Any) -> None:
        """A checkpoint that does not fit is an error: with weights left out, training would go on from elsewhere."""
        if load_result.unexpected_keys:
            raise LongmatchError(
                f"The weights in {self.checkpoints} do not fit the model ({load_result.unexpected_keys[0]}). "
                "Train into another folder."
            )


class _Numbers(Sampler[int]):
    """The numbers of this process's batches from the step the run stands at; none where it has stopped early."""

    def __init__(self, trainer: RecipeTrainer) -> None:
        self.trainer = trainer

    def __len__(self) -> int:
        return self.trainer.plan.steps * self.trainer.settings.accumulate  # of the whole run

    def __iter__(self) -> Iterator[int]:
        trainer, processes = self.trainer, self.trainer.args.world_size
        first = trainer.state.global_step * trainer.settings.accumulate
        last = first if trainer.flow.is_stale(trainer.state) else len(self)
        return iter(range(first * processes + trainer.args.process_index, last * processes, processes))
