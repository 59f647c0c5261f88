"""BERT-PLI: paragraph pairs are cut as they should be, and what is made of them is what a plain loop makes."""

import numpy as np
import pytest
import torch

from longmatch.errors import LongmatchError
from longmatch.lab.baselines.cross.bert_pli import ParagraphGrid, PliMatcher, PliModel
from longmatch.lab.baselines.cross.encoder import read
from longmatch.lab.baselines.cross.selection import CrossBatch
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.models.loading import load
from tests.lab.baselines.cross.padding import padded
from tests.lab.baselines.cross.tiny_cross import enlarge

SIZE = 3
SIDES = [(range(10, 17), range(20, 24)), (range(30, 32), range(40, 49)), (range(50, 53), range(60, 66))]
pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")


@pytest.fixture(scope="module")
def model(tiny_bert):
    torch.manual_seed(0)
    made = PliModel.from_backbone(str(tiny_bert), paragraph_tokens=SIZE, side_tokens=100, hidden=16).eval()
    enlarge(made, 0.3)
    return made


def batch_of(sides):
    return CrossBatch.of([(np.array(a, dtype=np.int64), np.array(b, dtype=np.int64)) for a, b in sides], (2, 3))


def cut(ids):
    ids = list(ids)
    return [ids[start : start + SIZE] for start in range(0, len(ids), SIZE)] or [[]]


def one_pair(model, a, b):
    """The cross-encoder's own vector of two paragraphs."""
    ids, mask, types = padded([(a, b)])
    hidden = model.backbone(input_ids=ids, attention_mask=mask.long(), token_type_ids=types).last_hidden_state
    return torch.tanh(model.pooler(hidden[0, 0]))


@pytest.mark.parametrize("sides", [SIDES, [(range(10, 12), []), ([], range(20, 25))], [([], [])]])
def test_every_paragraph_of_the_one_meets_every_paragraph_of_the_other(sides):
    ids, mask, types = padded(sides)
    grid = ParagraphGrid.of(mask, types, SIZE)
    found = [row[real].tolist() for row, real in zip(grid.gather(ids), grid.real, strict=True)]
    pairs = [(a, b) for one, other in sides for a in cut(one) for b in cut(other)]
    assert found == [[2, *a, 3, *b, 3] for a, b in pairs]
    seconds = [row[real].tolist() for row, real in zip(grid.types, grid.real, strict=True)]
    assert seconds == [[False] * (len(a) + 2) + [True] * (len(b) + 1) for a, b in pairs]


@torch.no_grad()
def test_a_pair_is_what_a_plain_loop_over_its_paragraphs_makes_of_it_whatever_is_read_beside_it(model):
    together = read(model, batch_of(SIDES))
    for number, (one, other) in enumerate(SIDES):
        best = torch.stack([torch.stack([one_pair(model, a, b) for b in cut(other)]).amax(0) for a in cut(one)])
        states = model.recurrent(best[None])[0][0]
        weights = (states @ model.lead(states.amax(0))).softmax(0)
        wanted = weights @ states
        torch.testing.assert_close(together.vectors[number], wanted, atol=1e-5, rtol=1e-4)
        alone = read(model, batch_of([SIDES[number]]))
        torch.testing.assert_close(alone.logits[0], together.logits[number], atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_the_state_of_a_token_is_the_mean_over_the_paragraphs_it_is_read_with(model, tiny_bert):
    one, other = SIDES[0]
    matcher = PliMatcher(model, open_tokenizer(str(tiny_bert)), "float32")
    mine, theirs = matcher.states((np.array(one), np.array(other)))
    assert len(mine) == len(one) and len(theirs) == len(other)
    wanted = []
    for b in cut(other):
        ids, mask, types = padded([(cut(one)[1], b)])
        inputs = {"input_ids": ids, "attention_mask": mask.long(), "token_type_ids": types}
        layers = model.backbone(**inputs, output_hidden_states=True).hidden_states
        wanted.append(torch.stack(layers).mean(0)[0, 1 : 1 + SIZE])
    torch.testing.assert_close(mine[SIZE : 2 * SIZE], torch.stack(wanted).mean(0), atol=1e-5, rtol=1e-4)


def test_the_backbone_limits_a_paragraph_and_not_the_document(tiny_bert):
    found = PliModel.from_backbone(str(tiny_bert))
    assert (found.paragraph_limit, found.side_limit) == (30, 768)


def test_a_saved_model_opens_with_its_settings_and_explains_a_pair(model, tiny_bert, examples, tmp_path):
    model.save_pretrained(tmp_path)
    open_tokenizer(str(tiny_bert)).save_pretrained(tmp_path)
    matcher = load(f"bert-pli@{tmp_path}")
    assert isinstance(matcher, PliMatcher) and matcher.model.config.paragraph_tokens == SIZE
    for key, weight in model.state_dict().items():
        assert torch.equal(weight, matcher.model.state_dict()[key].cpu()), key
    matcher.precision = "float32"
    a, b = list(examples.values())[:2]
    match = matcher.compare(a, b)
    assert match.score == pytest.approx(matcher.score_pairs([(a, b)])[0], abs=1e-5)
    assert sum(one.contribution for one in match.alignments) == pytest.approx(1, abs=1e-5)


def test_the_model_has_to_be_trained_first():
    with pytest.raises(LongmatchError, match="longmatch train bert-pli --data DIR"):
        load("bert-pli")
