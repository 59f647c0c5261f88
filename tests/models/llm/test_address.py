"""The address of a language model, and its key."""

import pytest

from longmatch.errors import LongmatchError
from longmatch.models.llm.address import KEY, MODEL, URL, ModelAddress


def test_without_an_address_one_sentence_says_what_to_set():
    with pytest.raises(LongmatchError, match=f"no address is given, so nothing was sent. Set {URL}"):
        ModelAddress.of(model="tiny")


def test_without_a_model_one_sentence_says_what_to_set():
    with pytest.raises(LongmatchError, match=f"Set {MODEL}"):
        ModelAddress.of("http://localhost:1")


def test_the_environment_gives_what_is_left_out(monkeypatch):
    monkeypatch.setenv(URL, "http://localhost:1/v1")
    monkeypatch.setenv(MODEL, "tiny")
    monkeypatch.setenv(KEY, "secret")
    assert ModelAddress.of() == ModelAddress("http://localhost:1/v1/chat/completions", "tiny", "secret")
    assert ModelAddress.of(model="other").model == "other"


def test_the_environments_key_goes_to_no_other_address(monkeypatch):
    monkeypatch.setenv(KEY, "secret")
    assert ModelAddress.of("http://elsewhere", "tiny").key is None


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://host", "http://", "http://host:99999", "http://a b", "x"])
def test_a_url_of_another_form_is_refused(url):
    with pytest.raises(LongmatchError, match="is not an address"):
        ModelAddress.of(url, "tiny")


def test_a_password_in_the_address_is_refused_and_not_shown():
    with pytest.raises(LongmatchError) as error:
        ModelAddress.of("http://me:secret@host/v1", "tiny")
    assert "secret" not in str(error.value)


def test_the_key_is_shown_nowhere():
    assert "secret" not in repr(ModelAddress.of("http://host", "tiny", "secret"))
    with pytest.raises(LongmatchError) as error:
        ModelAddress.of("http://host", "tiny", "sec\nret")
    assert "ret" not in str(error.value).replace("characters", "")
