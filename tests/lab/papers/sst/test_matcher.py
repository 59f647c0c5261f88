"""SST as a matcher, with tiny random models."""

import numpy as np
import pytest
import torch

from longmatch.documents.read import read_text_string
from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.baselines.cross.encoder import margins
from longmatch.lab.encoders.checkpoint import open_tokenizer
from longmatch.lab.papers.sst.matcher import CLUSTERS, SstMatcher, SstModel
from longmatch.lab.papers.sst.network import AdaptiveClustering, ClusterConfig, ClusterModel
from longmatch.models.loading import load
from longmatch.units import tokenize
from tests.lab.baselines.cross.tiny_cross import enlarge

PAIR = ("coming-back-slowly.md", "the-stream-that-turned.md")
pytestmark = pytest.mark.filterwarnings("ignore::longmatch.errors.LongmatchWarning")


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
