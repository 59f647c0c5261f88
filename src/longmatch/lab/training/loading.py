"""Batches drawn ahead, in processes of their own."""

from multiprocessing import get_all_start_methods
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from longmatch.lab.training.recipe import Recipe


def batch_loader(recipe: Recipe[Any], numbers: Sampler[int], workers: int) -> DataLoader[Any]:
    """The batches of those numbers, in order, each with its number."""
    forked = "fork" if workers and "fork" in get_all_start_methods() else None  # so that no model is sent there
    return DataLoader(
        _Batches(recipe),
        batch_size=None,
        sampler=numbers,
        num_workers=workers,
        collate_fn=_as_it_is,
        multiprocessing_context=forked,
        generator=torch.Generator(),  # else the loader takes a number from torch's own
    )


class _Batches(Dataset[Any]):
    """A batch by its number."""

    def __init__(self, recipe: Recipe[Any]) -> None:
        self.recipe = recipe

    def __getitem__(self, number: int) -> tuple[int, Any]:
        return number, self.recipe.draw(number)


def _as_it_is(batch: Any) -> Any:
    return batch
