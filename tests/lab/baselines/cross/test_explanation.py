"""Why the cross-encoder gives a pair its score."""

import copy

import numpy as np
import pytest
import torch

from longmatch.documents import Draft
from longmatch.lab.baselines.cross.encoder import margins
from longmatch.lab.baselines.cross.matcher import CrossMatcher, contributions, sentence_vectors
from longmatch.lab.baselines.cross.selection import CrossBatch
from longmatch.units import tokenize
from tests.lab.baselines.cross.test_matcher import DrawnMatcher
from tests.lab.baselines.cross.tiny_cross import tiny_matcher

pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
WORDS = (
    "The bank was full. It rained on the river. Nobody came back.",
    "A bird sat there. The river rose again. It was the first day. They left.",
)

ONE_VIEW = np.ones(1)


def document(id, text):
    draft = Draft()
    draft.paragraph(text)
    return draft.document(id, id, "")


@pytest.fixture(scope="module")
def matcher(tiny_bert):
    return tiny_matcher(tiny_bert)


@pytest.fixture(scope="module")
def pair():
    return document("a", WORDS[0]), document("b", WORDS[1])


@pytest.fixture(scope="module")
def tokens(matcher, pair):
    return tuple(tokenize(d, matcher.tokenizer.backend_tokenizer) for d in pair)


def ids_of(tokens, left_out=None):
    parts = np.split(tokens.ids, tokens.sentence_offsets[1:-1])
    return np.concatenate([part for number, part in enumerate(parts) if number != left_out])[:30]


def test_a_contribution_is_what_the_margin_loses_without_the_sentence(matcher, tokens):
    def margin(a, b):
        return margins(matcher.model, CrossBatch.of([(a, b)], matcher.layout.specials)).item()

    a, b = tokens
    whole = margin(ids_of(a), ids_of(b))
    wanted = [whole - margin(ids_of(a, i), ids_of(b)) for i in range(3)]
    wanted += [whole - margin(ids_of(a), ids_of(b, i)) for i in range(4)]
    assert max(wanted) > 0
    found = contributions(matcher, tokens, matcher.layout.excerpts(tokens, [0]), ONE_VIEW)
    np.testing.assert_allclose(np.concatenate(found), np.maximum(wanted, 0), atol=1e-4)


def test_contributions_sum_to_one_and_name_sentences_of_both_documents(matcher, pair):
    match = matcher.compare(*pair)
    assert sum(alignment.contribution for alignment in match.alignments) == pytest.approx(1.0)
    for alignment in match.alignments:
        assert alignment.a.text == pair[0].text[alignment.a.start : alignment.a.end]
        assert alignment.b.text == pair[1].text[alignment.b.start : alignment.b.end]
        assert alignment.a.text in WORDS[0] and alignment.b.text in WORDS[1]


def test_a_pair_that_nothing_speaks_for_is_explained_all_the_same(matcher, pair, tokens):
    excerpts = matcher.layout.excerpts(tokens, [0])
    before = np.concatenate(contributions(matcher, tokens, excerpts, ONE_VIEW))
    turned = CrossMatcher(tiny_turned(matcher), matcher.tokenizer, matcher.precision)
    after = np.concatenate(contributions(turned, tokens, excerpts, ONE_VIEW))
    assert before.max() > 0 and after.max() > 0 and after.min() >= 0
    single = tokenize(document("c", "Rain."), matcher.tokenizer.backend_tokenizer)
    for reader in (matcher, turned):
        one = (single, single)
        gains = np.concatenate(contributions(reader, one, matcher.layout.excerpts(one, [0]), ONE_VIEW))
        assert gains.max() > 0 and gains.min() >= 0


def tiny_turned(matcher):
    """The same network with its two classes exchanged."""
    model = copy.deepcopy(matcher.model)
    with torch.no_grad():
        model.classifier.weight.copy_(model.classifier.weight.flip(0))
        model.classifier.bias.copy_(model.classifier.bias.flip(0))
    return model


def test_a_sentence_is_the_mean_of_its_tokens_states(matcher, tokens):
    a, b = (ids_of(one) for one in tokens)
    ids = torch.tensor([[2, *a, 3, *b, 3]])
    types = torch.tensor([[0] * (len(a) + 2) + [1] * (len(b) + 1)])
    with torch.no_grad():
        layers = matcher.model.backbone(
            input_ids=ids, attention_mask=torch.ones_like(ids), token_type_ids=types, output_hidden_states=True
        ).hidden_states
    states = torch.stack(layers).mean(0)[0]
    first, last = tokens[1].sentence_offsets[1:3]  # the second sentence of b
    wanted = torch.nn.functional.normalize(states[len(a) + 2 + first : len(a) + 2 + last].mean(0), dim=0)
    found = sentence_vectors(matcher, tokens, matcher.layout.excerpts(tokens, [0]))
    assert [len(side) for side in found] == [3, 4]
    torch.testing.assert_close(found[1][1], wanted, atol=1e-5, rtol=1e-4)


def test_each_level_has_a_row_a_part_that_was_read(matcher, pair):
    match = matcher.compare(*pair)
    assert match.passages.scores.shape == (3, 4) and match.sections.scores.shape == (1, 1)
    assert (match.passages.scores >= 0).all() and (match.passages.scores <= 1).all()


@pytest.mark.parametrize("pool", ["max", "mean"])
def test_views_are_explained_as_they_are_pooled(tiny_bert, pool):
    matcher = tiny_matcher(tiny_bert, DrawnMatcher, views=3, pool=pool)
    match = matcher.compare(document("a", "It was so. " * 15), document("b", "They left it. " * 15))
    assert sum(alignment.contribution for alignment in match.alignments) == pytest.approx(1.0)
    rows = len(match.passages.rows)
    assert rows <= 3 if pool == "max" else rows > 3
