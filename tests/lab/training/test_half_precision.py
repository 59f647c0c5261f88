"""A checkpoint stored in 16 bits is trained in 32: steps smaller than its weights' last digit would be lost."""

from pathlib import Path

import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from longmatch.lab.training.settings import TrainingSettings, fill
from longmatch.lab.training.train import find_recipe

MODELS = ("colde", "first", "smith", "s-long", "dssm", "cross", "sst", "match-ignition", "bert-pli")


@pytest.fixture(scope="module")
def halved(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("halved")
    AutoModel.from_pretrained(tiny_bert).half().save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    assert {p.dtype for p in AutoModel.from_pretrained(folder).parameters()} == {torch.float16}
    return folder


@pytest.mark.parametrize("name", MODELS)
def test_training_begins_in_full_precision(halved: Path, name: str) -> None:
    recipe = find_recipe(name)
    settings, own = fill({"backbone": str(halved)}, [TrainingSettings, recipe.Settings], recipe.defaults)
    model, _ = recipe.new_model(settings, own)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
