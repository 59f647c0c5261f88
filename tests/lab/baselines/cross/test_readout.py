"""How the cross-encoder's head starts, and what it reads."""

import pytest
import torch

from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.training import CrossRecipe, CrossSettings
from longmatch.lab.training.settings import TrainingSettings
from longmatch.lab.training.train import train
from tests.lab.baselines.cross.tiny_cross import save_learner
from tests.lab.training.synthetic.classes import common_words
from tests.lab.training.synthetic.wordings import write_two_wordings

IDS = torch.tensor([[101, 7, 8, 102, 9, 102], [101, 5, 102, 6, 102, 0]])
MASK = (IDS > 0).long()
TYPES = torch.tensor([[0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0]])


@pytest.fixture(scope="module")
def backbone(tiny_bert, tmp_path_factory):
    """A backbone whose pooler was never trained."""
    from transformers import AutoModel

    folder = save_learner(tiny_bert, tmp_path_factory.mktemp("untrained"))
    model = AutoModel.from_pretrained(folder)
    model.pooler.dense.weight.data.normal_(std=1e-3)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def data(tiny_bert, tmp_path_factory):
    return write_two_wordings(tmp_path_factory.mktemp("made") / "wordings", common_words(tiny_bert / "vocab.txt"), 3)


def made(backbone, readout):
    torch.manual_seed(0)
    return CrossModel.from_backbone(str(backbone), readout=readout).eval()


@torch.no_grad()
def test_an_untrained_pooler_is_dead_and_a_fresh_one_is_not(backbone):
    size = {kind: made(backbone, kind).pooled(IDS, MASK, TYPES).abs().mean().item() for kind in ("pooler", "fresh")}
    assert size["pooler"] < 0.05
    assert size["fresh"] > 0.2


@torch.no_grad()
def test_the_mean_is_over_all_tokens_but_padding(backbone):
    model = made(backbone, "mean")
    states = model.backbone(input_ids=IDS, attention_mask=MASK, token_type_ids=TYPES).last_hidden_state
    expected = torch.tanh(model.pooler(torch.stack([states[0].mean(0), states[1, :5].mean(0)])))
    assert torch.allclose(model.pooled(IDS, MASK, TYPES), expected, atol=1e-6)


def test_layers_above_the_backbone_learn_at_their_own_rate(backbone, data, tmp_path):
    def new(readout):
        settings = TrainingSettings(documents=64)
        recipe = CrossRecipe.make([data], tmp_path, settings, CrossSettings(str(backbone), readout=readout))
        return {name.split(".")[0] for name, _ in recipe.model.named_parameters() if recipe.is_new(name)}

    assert new("pooler") == {"classifier"}
    assert new("fresh") == {"pooler", "classifier"}


def test_swapping_exchanges_some_pairs_the_same_ones_every_time(backbone, data, tmp_path):
    def rows(**own):
        options = CrossSettings(str(backbone), side_tokens=16, **own)
        batch = CrossRecipe.make([data], tmp_path, TrainingSettings(documents=64), options).draw(0)
        text = batch.rows.text
        return batch.label.tolist(), [ids.tolist() for ids in text.ids.split(text.lengths.tolist())]

    plain, swapped = rows(), rows(swap=True)
    changed = sum(a != b for a, b in zip(plain[1], swapped[1], strict=True))
    assert plain[0] == swapped[0]
    assert 0 < changed < len(plain[1])
    assert rows(swap=True) == swapped


def test_a_trained_folder_keeps_its_readout(backbone, data, tmp_path):
    settings = {"steps": 2, "documents": 16, "tokens_at_once": 10**6, "side_tokens": 16}
    out = train("cross", data, tmp_path / "out", backbone=str(backbone), readout="mean", swap=True, **settings)
    assert CrossModel.from_pretrained(out).config.readout == "mean"
