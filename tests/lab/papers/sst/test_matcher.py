"""SST as a matcher, with tiny random models."""

import numpy as np
import pytest
import torch

from longmatch.documents.read import read_text_string
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.baselines.cross.encoder import margins, read
from longmatch.lab.baselines.cross.matcher import CrossMatcher
from longmatch.lab.baselines.cross.selection import CrossBatch
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.sst.matcher import CLUSTERS, SstMatcher, SstModel, split_sides
from longmatch.lab.papers.sst.network import AdaptiveClustering, ClusterConfig, ClusterModel
from longmatch.models.loading import load
from longmatch.units import tokenize
from tests.lab.baselines.cross.tiny_cross import enlarge

PAIR = ("coming-back-slowly.md", "the-stream-that-turned.md")
pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")
SIDES = [([7, 8, 9, 10], [11]), ([12], [13, 14, 15]), ([16, 17], [18, 19])]


@pytest.fixture(scope="module")
def pair(examples):
    return [examples[name] for name in PAIR]


def made(backbone, **settings):
    torch.manual_seed(0)
    model = SstModel.from_backbone(str(backbone), **settings).eval()
    enlarge(model, 0.3)
    return SstMatcher(model, open_tokenizer(str(backbone)), "float32")


def logit(chance):
    return np.log(chance / (1 - chance))


@pytest.fixture(scope="module")
def adaptive(tiny_bert, tiny_roberta, tmp_path_factory):
    """A folder with a cluster network inside, over a backbone whose tokenizer is another."""
    folder = tmp_path_factory.mktemp("adaptive")
    matcher = made(tiny_bert)
    matcher.model.config.clustering = "adaptive"
    matcher.model.save_pretrained(folder)
    matcher.tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = ClusterConfig(backbone=str(tiny_roberta), vector_width=32, hidden=16)
    network = tmp_path_factory.mktemp("network")
    ClusterModel(config).save_pretrained(network)
    AdaptiveClustering.load(network, "cpu").save(folder / CLUSTERS)
    return folder


def test_three_views_are_read_and_the_largest_or_the_mean_is_the_score(tiny_bert, pair):
    matcher = made(tiny_bert)
    tokens = tuple(tokenize(d, matcher.tokenizer.backend_tokenizer) for d in pair)
    each = margins(matcher.model, matcher.layout.lay_out([tokens], [0, 1, 2])).numpy()
    assert matcher.model.config.views == 3 and len(set(each.round(4))) == 3
    assert logit(matcher.score_pairs([tuple(pair)])[0]) == pytest.approx(each.max(), abs=1e-4)
    mean = made(tiny_bert, pool="mean").score_pairs([tuple(pair)])[0]
    assert logit(mean) == pytest.approx(each.mean(), abs=1e-4)


def test_the_same_seed_gives_the_same_views_and_scores_and_another_seed_others(tiny_bert, examples):
    documents = list(examples.values())[:4]
    pairs = [(a, b) for a in documents for b in documents if a is not b]

    def found(seed):
        matcher = made(tiny_bert, seed=seed)
        tokens = [tuple(tokenize(d, matcher.tokenizer.backend_tokenizer) for d in pair) for pair in pairs]
        chosen = [matcher.views.choose(*one, matcher.layout.limit, range(3), seed) for one in tokens]
        views = [[(view.a.tolist(), view.b.tolist()) for view in views] for views in chosen]
        return views, matcher.score_pairs(pairs)

    one, again, other = (found(seed) for seed in (4, 4, 5))
    assert one[0] == again[0] and one[1].tolist() == again[1].tolist()
    assert all(a != b for a, b in zip(one[0], other[0], strict=True))
    assert np.abs(one[1] - other[1]).max() > 1e-3


def test_the_first_forty_sentences_are_all_that_is_read_and_coverage_says_so(tiny_bert):
    a = read_text_string(" ".join(f"Sentence {n} of the river and the bank." for n in range(80)))
    b = read_text_string("A bird sings. It flies.")
    tokens = tokenize(a, open_tokenizer(str(tiny_bert)).backend_tokenizer)
    few, many = (made(tiny_bert, max_sentences=most, views=60).compare(a, b).coverage for most in (40, None))
    assert 0.4 < few.a <= tokens.sentence_offsets[40] / len(tokens) < many.a
    assert few.b == many.b == 1.0


def test_it_is_said_that_views_are_drawn_from_the_first_sentences(tiny_bert, pair):
    with pytest.warns(LongmatchWarning, match="30 tokens of a document in each of 3 views, drawn from its first 9 sen"):
        made(tiny_bert, max_sentences=9).compare(*pair)


def test_subtopics_are_those_that_the_views_are_drawn_from(tiny_bert, pair):
    matcher = made(tiny_bert, max_sentences=20)
    found = matcher.subtopics(*pair)
    tokens = [tokenize(d, matcher.tokenizer.backend_tokenizer) for d in pair]
    clusters = matcher.views.clusters(*tokens)
    assert sum(len(t.a) for t in found.topics) == len(clusters.a) == 20
    sizes = sorted((a, b) for a, b in zip(*(s.tolist() for s in clusters.sizes), strict=True) if a + b)
    assert sorted((len(t.a), len(t.b)) for t in found.topics) == sizes
    assert found.similarity.shape == (40, 40) and 0 <= found.similarity.min() <= found.similarity.max() <= 1


def test_the_explanation_is_of_sentences_that_were_read(tiny_bert, pair):
    matcher = made(tiny_bert, pool="mean")
    match = matcher.compare(*pair)
    assert match.model == "sst" and match.alignments
    assert sum(a.contribution for a in match.alignments) == pytest.approx(1, abs=1e-5)


def test_a_folder_with_its_cluster_network_opens_alone(adaptive, tiny_roberta, pair, tmp_path):
    moved = adaptive.rename(tmp_path / "moved")
    try:
        matcher = load(f"sst@{moved}")
        assert isinstance(matcher, SstMatcher)
        clustering = matcher.views.clustering
        assert clustering.network.backbone.name == str(moved / CLUSTERS / "backbone")
        found = matcher.subtopics(*pair)
        assert found.similarity.shape == (80, 80) and sum(len(t.b) for t in found.topics) == 40
        own = clustering.network.vectors([tokenize(d, clustering.network.backbone.tokenizer) for d in pair])
        tokens = [tokenize(d, matcher.tokenizer.backend_tokenizer) for d in pair]
        wanted = clustering.network.assign_vectors([tuple(own)])[0].argmax(1)
        assert np.concatenate(matcher.views.clusters(*tokens).sides).tolist() == wanted.tolist()
        assert matcher.networks == (matcher.model, clustering.network.model, clustering.network.backbone.model)
        again = load(f"sst@{moved}")
        assert matcher.score_pairs([tuple(pair)]).tolist() == again.score_pairs([tuple(pair)]).tolist()
    finally:
        moved.rename(adaptive)


def test_a_folder_without_its_cluster_network_is_an_error_of_one_sentence(adaptive, tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((adaptive / name).read_bytes())
    with pytest.raises(LongmatchError, match=r"The cluster model .* cannot be opened") as error:
        load(f"sst@{tmp_path}")
    assert "\n" not in str(error.value)


def test_the_model_has_to_be_trained_first():
    with pytest.raises(LongmatchError, match="longmatch train sst --data DIR"):
        load("sst")


def test_with_attention_all_views_are_one_score_and_explained_by_what_each_counts_for(tiny_bert, pair):
    matcher = made(tiny_bert, attention=True)
    tokens = tuple(tokenize(d, matcher.tokenizer.backend_tokenizer) for d in pair)
    wanted = margins(matcher.model, matcher.layout.lay_out([tokens], [0, 1, 2], 3)).numpy()
    assert wanted.shape == (1,)
    assert logit(matcher.score_pairs([tuple(pair), tuple(pair)])) == pytest.approx([wanted[0]] * 2, abs=1e-4)
    match = matcher.compare(*pair)
    assert logit(match.score) == pytest.approx(wanted[0], abs=1e-4)
    assert sum(one.contribution for one in match.alignments) == pytest.approx(1)
    rows = matcher.layout.rows(tokens, matcher.layout.excerpts(tokens, range(3)))
    shares = matcher.view_weights(rows).numpy()
    assert shares.sum() == pytest.approx(1) and len(set(shares.round(4))) == 3
    # The classifier is linear: what attention makes of three views is the mean of their margins, so weighted.
    assert shares @ matcher.margins(rows).numpy() == pytest.approx(wanted[0], abs=1e-4)


def test_a_saved_model_with_attention_opens_and_scores_the_same(tiny_bert, pair, tmp_path):
    matcher = made(tiny_bert, attention=True)
    matcher.model.save_pretrained(tmp_path)
    matcher.tokenizer.save_pretrained(tmp_path)
    again = load(f"sst@{tmp_path}")
    again.precision = "float32"
    pairs = [tuple(pair)]
    assert again.score_pairs(pairs) == pytest.approx(matcher.score_pairs(pairs), abs=1e-5)


@pytest.fixture(scope="module")
def model(tiny_bert):
    torch.manual_seed(0)
    made = SstModel.from_backbone(str(tiny_bert), head="dual", loss_temperature=0.1, side_tokens=500).eval()
    enlarge(made, 0.3)
    return made


@pytest.fixture(scope="module")
def batch():
    return CrossBatch.of([tuple(torch.tensor(side).numpy() for side in pair) for pair in SIDES], (2, 3))


def alone(model, ids):
    """What the backbone makes of one document."""
    return model.backbone(input_ids=torch.tensor([[2, *ids, 3]]), output_hidden_states=True)


def test_rows_come_apart_whatever_their_lengths():
    longest = 8
    ids, second = torch.zeros(3, longest, dtype=torch.long), torch.zeros(3, longest, dtype=torch.long)
    for row, (a, b) in enumerate(SIDES):
        whole = [2, *a, 3, *b, 3]
        ids[row, : len(whole)] = torch.tensor(whole)
        second[row, len(a) + 2 :] = 1
    found, mask = split_sides(ids, ids > 0, second)
    wanted = [[2, *a, 3] for a, _ in SIDES] + [[2, *b, 3] for _, b in SIDES]
    assert [row[real].tolist() for row, real in zip(found, mask, strict=True)] == wanted
    assert (found[~mask] == 0).all()


@torch.no_grad()
def test_the_dual_margin_is_the_cosine_of_both_means_over_the_temperature(model, batch):
    found = margins(model, batch)
    for margin, sides in zip(found, SIDES, strict=True):
        a, b = (alone(model, ids).last_hidden_state[0].mean(0) for ids in sides)
        assert margin.item() == pytest.approx((torch.cosine_similarity(a, b, dim=0).item() - 0.5) / 0.1, abs=1e-4)


@torch.no_grad()
def test_the_dual_vectors_of_a_pair_are_both_documents_side_by_side(model, batch):
    found = read(model, batch).vectors
    for row, sides in zip(found, SIDES, strict=True):
        wanted = torch.cat([alone(model, ids).last_hidden_state[0].mean(0) for ids in sides])
        torch.testing.assert_close(row, wanted, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_dual_vectors_read_without_padding_are_those_of_padded_rows(model, batch, monkeypatch):
    found = []
    for packed in ("0", "1"):
        monkeypatch.setenv("LONGMATCH_PACKED", packed)
        with torch.no_grad():
            found.append(read(model, batch).vectors)
    torch.testing.assert_close(found[0], found[1], atol=1e-5, rtol=1e-4)


def test_the_dual_states_of_tokens_know_nothing_of_the_other_document(model, tiny_bert):
    reader = CrossMatcher(model, open_tokenizer(str(tiny_bert)), "float32")
    a, b = (torch.tensor(side).numpy() for side in SIDES[0])
    for states, ids in zip(reader.states((a, b)), SIDES[0], strict=True):
        wanted = torch.stack(alone(model, ids).hidden_states).mean(0)[0, 1:-1]
        torch.testing.assert_close(states, wanted, atol=1e-5, rtol=1e-4)


def test_a_dual_encoder_has_all_places_for_one_document(model, tiny_bert):
    assert model.side_limit == 62 and SstModel.from_backbone(str(tiny_bert)).side_limit == 30


def test_the_dual_encoder_learns_with_its_backbone_alone(model):
    names = {name.partition(".")[0] for name, weight in model.named_parameters() if weight.requires_grad}
    assert names == {"backbone"}


VIEWS = [([7, 8, 9, 10], [11]), ([12], [13, 14, 15]), ([16, 17], [18, 19]), ([20, 21], [22]), ([23], [24]), ([25], [7])]


def attentive(tiny_bert, **settings):
    torch.manual_seed(0)
    made = SstModel.from_backbone(str(tiny_bert), attention=True, side_tokens=20, **settings).eval()
    enlarge(made, 0.3)
    return made


def rows_of(sides, joined):
    return CrossBatch.of([tuple(torch.tensor(side).numpy() for side in pair) for pair in sides], (2, 3), joined)


@torch.no_grad()
@pytest.mark.parametrize("head", ["cross", "dual"])
def test_attention_joins_the_views_of_a_pair_with_the_weights_softmax_h_w_v(tiny_bert, head):
    model = attentive(tiny_bert, head=head)
    found = read(model, rows_of(VIEWS, 3))
    each = read(model, rows_of(VIEWS, 1)).vectors
    assert model.joined_views == 3 and found.logits.shape == (2, 2)
    for pair in (0, 1):
        wanted = []
        for side in each[3 * pair : 3 * pair + 3].chunk(2 if head == "dual" else 1, dim=1):
            scores = torch.stack([h @ model.projection.weight.T @ model.question.weight[0] for h in side])
            weights = scores.exp() / scores.exp().sum()
            assert weights.max() > 0.4
            wanted.append(sum(weight * h for weight, h in zip(weights, side, strict=True)))
        torch.testing.assert_close(found.vectors[pair], torch.cat(wanted), atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_a_pair_whose_views_are_joined_is_never_cut_apart_and_is_the_same_alone(tiny_bert):
    model = attentive(tiny_bert)
    whole = rows_of(VIEWS, 3)
    parts = list(whole.groups(1))
    assert [len(part) for part in parts] == [3, 3] and len(list(whole.groups(10**6))) == 1
    together, alone = margins(model, whole), torch.cat([margins(model, part) for part in parts])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-4)


def test_only_the_variant_with_attention_has_its_weights(tiny_bert):
    names = {name.partition(".")[0] for name, _ in attentive(tiny_bert).named_parameters()}
    assert names == {"backbone", "pooler", "classifier", "projection", "question"}
    plain = SstModel.from_backbone(str(tiny_bert))
    assert plain.joined_views == 1 and not hasattr(plain, "question")
