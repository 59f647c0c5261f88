"""The dropout of a backbone can be set, in the model and in what is saved of it."""

import torch

from longmatch.lab.encoders.dropout import set_dropout
from longmatch.lab.papers.colde.encoder import ColdeModel


def rates(model):
    return {module.p for module in model.modules() if isinstance(module, torch.nn.Dropout)}


def test_a_new_model_has_the_dropout_asked_for(tiny_bert):
    assert rates(ColdeModel.from_backbone(str(tiny_bert), dropout=0.3).backbone) == {0.3}
    assert ColdeModel.from_backbone(str(tiny_bert), dropout=0.3).config.backbone["hidden_dropout_prob"] == 0.3


def test_without_one_a_backbone_keeps_its_own(tiny_bert):
    model = ColdeModel.from_backbone(str(tiny_bert)).backbone
    before = rates(model)
    set_dropout(model, None)
    assert rates(model) == before == {model.config.hidden_dropout_prob}
