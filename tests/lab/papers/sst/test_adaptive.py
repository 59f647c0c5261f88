"""A cluster model with its backbone: from the tokens of two documents to their soft clusters."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from longmatch.documents.read import read_text_string
from longmatch.encoders.backbone import Backbone
from longmatch.errors import LongmatchError
from longmatch.lab.papers.sst.adaptive import AdaptiveClustering
from longmatch.lab.papers.sst.network import ClusterConfig, ClusterModel
from longmatch.lab.papers.sst.vectors import first_sentence_vectors
from longmatch.units import tokenize

TEXT = "The river rose. Houses were flooded. Many people left the town.\n\nA bridge is closed. Help came late."


@pytest.fixture(scope="module")
def folder(tmp_path_factory, tiny_bert):
    """A cluster model of random weights over the tiny BERT."""
    torch.manual_seed(0)
    made = ClusterModel(
        ClusterConfig(backbone=str(tiny_bert), vector_width=32, hidden=16, cluster_size=2, max_sentences=4)
    )
    found = tmp_path_factory.mktemp("clusters")
    made.save_pretrained(found)
    return found


@pytest.fixture(scope="module")
def clustering(folder) -> AdaptiveClustering:
    return AdaptiveClustering.load(folder, device="cpu")


@pytest.fixture
def pair(clustering):
    documents = [read_text_string(text) for text in (TEXT, "It rained. The river rose again.")]
    return [tokenize(document, clustering.backbone.tokenizer) for document in documents]


def test_a_pair_has_a_row_for_each_of_the_first_sentences_and_a_column_a_cluster(clustering, pair):
    found = clustering.assign(*pair)
    assert found.shape == (4 + 2, 3)  # of five sentences four are read
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-5)


def test_many_pairs_at_once_are_assigned_as_each_alone(clustering, pair):
    a, b = clustering.vectors(pair)
    together = clustering.assign_vectors([(a, b), (b, a), (a, a)])
    np.testing.assert_allclose(together[0], clustering.assign(*pair), atol=1e-5)
    assert [len(one) for one in together] == [6, 6, 8] and clustering.assign_vectors([]) == []


def test_a_loaded_model_learns_no_more(clustering):
    assert not clustering.model.training
    assert not any(weight.requires_grad for weight in clustering.model.parameters())


def test_a_sentence_too_long_for_the_backbone_has_the_mean_of_its_pieces(tiny_bert):
    backbone = Backbone.load(str(tiny_bert), device="cpu", precision="float32")
    text = "Short one. " + " ".join(["river house people"] * 40) + ". Another short one."
    tokens = tokenize(read_text_string(text), backbone.tokenizer)
    start, end = tokens.sentence_offsets[1:3].tolist()
    assert end - start > backbone.max_tokens
    (found,) = first_sentence_vectors([tokens], backbone, limit=40)
    assert found.shape == (3, 32)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    short = backbone.encode([tokens.ids[:start], tokens.ids[end:]])
    np.testing.assert_allclose(found[[0, 2]], short, atol=1e-5)


def test_documents_are_encoded_together_as_each_alone(tiny_bert):
    backbone = Backbone.load(str(tiny_bert), device="cpu", precision="float32")
    texts = (TEXT, "It rained.", "Help came. It came late.")
    tokens = [tokenize(read_text_string(text), backbone.tokenizer) for text in texts]
    empty = replace(tokens[1], sentence_offsets=np.zeros(1, dtype=np.int64))
    together = list(first_sentence_vectors([*tokens[:2], empty, tokens[2]], backbone, limit=4))
    assert [len(vectors) for vectors in together] == [4, 1, 0, 2]
    for one, vectors in zip(tokens, (together[0], together[1], together[3]), strict=True):
        np.testing.assert_allclose(next(first_sentence_vectors([one], backbone, limit=4)), vectors, atol=1e-5)


@pytest.mark.parametrize("what", ["nothing", "another model"])
def test_a_folder_without_a_cluster_model_is_named_in_a_sentence(what, tmp_path, tiny_bert):
    with pytest.raises(LongmatchError, match=r"The cluster model .* cannot be opened .*longmatch train sst-clusters"):
        AdaptiveClustering.load(tmp_path if what == "nothing" else tiny_bert)


def test_a_backbone_that_a_folder_names_is_not_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr("longmatch.encoders.pretrained.is_reachable", lambda: pytest.fail("the hub was asked"))
    ClusterModel(ClusterConfig(backbone="people/model", vector_width=32, hidden=16)).save_pretrained(tmp_path)
    with pytest.raises(LongmatchError, match=r"reads with the backbone people/model\. Put that into .* not fetched"):
        AdaptiveClustering.load(tmp_path, device="cpu")
