"""Validation by halves: each half of a document looks for the other one by SDR's score."""

from pathlib import Path

import numpy as np
import pytest
import torch

from longmatch.documents import read_text_string
from longmatch.encoders.backbone import Backbone
from longmatch.lab.papers.sdr.pairs import SENTENCES, DocumentHalves, SentencePool
from tests.lab.store.essays import token_collection

SHORT = "The bank failed at noon. The queue grew all day.\n\nRain fell on the town. A ledger was found."
LONG = " ".join(f"Sentence number {n} has some words." for n in range(3 * SENTENCES))
ALONE = "This one stands alone."


@pytest.fixture(scope="module")
def pool(tiny_bert: Path, tmp_path_factory) -> SentencePool:
    documents = [read_text_string(text, str(i)) for i, text in enumerate((SHORT, LONG, ALONE, SHORT))]
    tokens = token_collection(tmp_path_factory.mktemp("stores"), documents, Backbone.load(str(tiny_bert)).tokenizer)
    return SentencePool.of(tokens, np.arange(4), limit=60)


def test_a_half_is_the_opening_of_half_the_document_and_one_sentence_has_none(pool):
    halves = DocumentHalves.of(pool, np.array([0, 3]), (1, 2))
    assert [np.diff(u.numpy()).tolist() for u in halves.units] == [[2, SENTENCES, 2]] * 2  # one unit each
    assert [d.tolist() for d in halves.documents] == [[0, 1, 2, 3]] * 2
    assert len(halves.text) == 2 * (2 + SENTENCES + 2)
    assert halves.queries.tolist() == [0, 2]
    pieces = halves.text.ids.split(halves.text.lengths.tolist())
    assert pieces[2 + SENTENCES + 2][1:-1].tolist() == pool.ids(2).tolist()  # the third sentence opens a second half


def test_the_reciprocal_rank_is_one_where_halves_are_alike_and_lower_where_another_document_is(pool):
    halves = DocumentHalves.of(pool, np.array([0, 1, 3]), (1, 2))
    sizes = [2, SENTENCES, 2]
    own = torch.eye(3).repeat_interleave(torch.tensor(sizes), dim=0)  # a direction of each document
    assert halves.mean_reciprocal_rank(torch.cat([own, own])) == 1
    turned = torch.eye(3)[[1, 2, 0]].repeat_interleave(torch.tensor(sizes), dim=0)
    # the wrong document is best and the other two tie, which counts against the right one
    assert halves.mean_reciprocal_rank(torch.cat([own, turned])) == pytest.approx(1 / 3)


def test_ranks_are_those_of_float32_under_autocast(pool):
    halves = DocumentHalves.of(pool, np.array([0, 1, 3]), (1, 2))
    vectors = torch.randn(len(halves.text), 8, generator=torch.Generator().manual_seed(0))
    vectors[:, 0] += 40  # cosines that half precision cannot tell apart
    with torch.autocast("cpu", torch.bfloat16):
        inside = halves.mean_reciprocal_rank(vectors)
    assert inside == halves.mean_reciprocal_rank(vectors)
