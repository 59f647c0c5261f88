"""The library in two dimensions."""

import numpy as np
import pytest

from longmatch.library.library import Library
from longmatch.web.mapping.chart import weightiest
from longmatch.web.mapping.clusters import cluster
from longmatch.web.mapping.layout import layout
from tests.web.conftest import API, calling


def groups(sizes, width=16, seed=0):
    """Vectors around as many centres that stand at right angles, and which centre each belongs to."""
    chance = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    vectors = np.eye(width)[labels] + 0.02 * chance.standard_normal((len(labels), width))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), labels


def test_every_document_has_a_place_in_the_unit_square(client, shelf):
    found = client.get(f"{API}/map").json()
    assert sorted(point["id"] for point in found["points"]) == list(shelf)
    assert all(0 <= point[axis] <= 1 for point in found["points"] for axis in ("x", "y"))
    assert found["total"] == 9 and sum(c["size"] for c in found["clusters"]) == 9


def test_the_map_is_the_same_every_time_and_drawn_once(client, shelf):
    first = client.get(f"{API}/map").json()
    kept = client.app.state.longmatch.chart.kept()
    assert client.get(f"{API}/map").json() == first and client.app.state.longmatch.chart.kept() is kept
    with calling(shelf) as other:
        assert other.get(f"{API}/map").json() == first


@pytest.mark.parametrize("sizes", [(12, 9, 6), (5, 5), (40, 30, 20, 10)])
def test_clusters_are_the_groups_that_are_there_largest_first(sizes):
    vectors, labels = groups(sizes)
    assert cluster(vectors).tolist() == labels.tolist()


def test_documents_of_one_group_lie_nearer_to_each_other_than_to_others():
    vectors, labels = groups((15, 15, 15))
    places = layout(vectors)
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    same = labels[:, None] == labels
    assert apart[same].max() < apart[~same].min()


def test_more_documents_than_landmarks_are_placed_among_their_likes(monkeypatch):
    monkeypatch.setattr("longmatch.web.mapping.layout.LANDMARKS", 60)
    vectors, labels = groups((150, 150), width=4)
    places = layout(vectors)
    middles = np.stack([places[labels == n].mean(0) for n in range(2)])
    nearest = np.linalg.norm(places[:, None] - middles, axis=2).argmin(1)
    assert (nearest == labels).mean() > 0.99


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5])
def test_few_documents_have_places_too(count):
    vectors, _ = groups((count,), seed=1) if count else (np.zeros((0, 0), np.float32), None)
    places = layout(vectors)
    assert places.shape == (count, 2) and np.isfinite(places).all()
    assert len(cluster(vectors)) == count


def test_copies_of_one_document_have_places_too():
    vectors = np.ones((20, 8), dtype=np.float32)
    assert np.isfinite(layout(vectors)).all() and set(cluster(vectors).tolist()) == {0}


def test_a_cluster_is_told_by_the_words_that_others_do_not_use(examples, matcher):
    banks = [examples["the-queue-and-the-ledger.html"], examples["why-depositors-leave-together.md"]]
    walls = [examples["pointing-old-walls.md"], examples["tower-repair-report.pdf"]]
    first, second = weightiest([banks, walls], matcher.statistics.terms.words)
    assert "bank" in first and "mortar" in second and not set(first) & set(second)


def test_an_empty_library_has_an_empty_map_and_no_hits(tmp_path, tiny_web):
    (tmp_path / "one.md").write_text("# One\n\nThe river rose over the bank.\n", encoding="utf-8")
    library = Library(tmp_path / "empty", tiny_web)
    library.add(tmp_path / "one.md")
    library.remove("one.md")
    with calling(library) as client:
        assert client.get(f"{API}/map").json() == {"total": 0, "points": [], "clusters": []}
        assert client.get(f"{API}/documents").json() == {"total": 0, "documents": []}
        id = client.post(f"{API}/uploads", json={"text": "The river rose. The bank fell."}).json()["upload"]
        assert client.get(f"{API}/rank", params={"document": id}).json()["hits"] == []
