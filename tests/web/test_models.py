"""Models of the user's own, named when the server is started."""

import json
import shutil

import pytest

from tests.web.conftest import API, calling

PAIR = {"a": "report-1.md", "b": "report-6.md"}


@pytest.fixture
def trained(tmp_path, tiny_bert):
    """The folder of a trained SDR, as `longmatch train sdr` leaves it."""
    folder = tmp_path / "my-model"
    shutil.copytree(tiny_bert, folder)
    (folder / "longmatch.json").write_text(json.dumps({"model": "sdr"}), encoding="utf-8")
    return folder


def test_a_trained_model_is_offered_by_its_folders_name(shelf, trained):
    with calling(shelf, trained={trained.name: trained}) as client:
        names = [model["name"] for model in client.get(f"{API}/models").json()["models"]]
        found = client.get(f"{API}/compare", params={**PAIR, "model": "my-model"})
        assert names[-1] == "my-model"
        assert found.status_code == 200 and found.json()["model"] == "my-model"
        assert str(trained.parent) not in found.text


def test_a_model_that_cannot_be_opened_is_told_in_a_sentence(shelf, tmp_path):
    with calling(shelf, trained={"gone": tmp_path / "gone"}) as client:
        answer = client.get(f"{API}/compare", params={**PAIR, "model": "gone"})
        assert answer.status_code == 422 and answer.json()["detail"].startswith("There is no model")
