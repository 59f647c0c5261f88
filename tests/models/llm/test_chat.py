"""Questions to a real server on this machine, and everything that can go wrong on the way."""

import time
from typing import Any

import pytest

from longmatch.errors import LongmatchError
from longmatch.models.llm.chat import KEY, MODEL, URL, Chat, ChatError, ModelAddress, RejectedRequest, Reply
from longmatch.models.llm.judge import Judge
from tests.models.llm.chat_server import Answer, ChatServer

FINE = Answer("85")
REPLY = Reply("85", False, 100, 7)
SECRET = "the text of a document"
REQUEST: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": SECRET}],
    "temperature": 0,
    "max_tokens": 10,
}


def ask(server: ChatServer, **settings) -> Reply:
    address = ModelAddress.of(server.url, "tiny", "the-key")
    chat = Chat(address, **{"timeout": 5.0, "retries": 2, "backoff": 0.01, **settings})
    return chat.ask(REQUEST)


def test_a_request_is_in_the_protocols_form(server):
    server.answers(FINE)
    chat = Chat(ModelAddress.of(server.url, "tiny", "the-key"), timeout=5.0)
    assert Judge(chat).score(REQUEST["messages"], REQUEST["max_tokens"]) == 0.85
    (request,) = server.requests
    assert request.path == "/v1/chat/completions" and request.headers["Authorization"] == "Bearer the-key"
    assert request.body == REQUEST


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_passing_problem_is_tried_again(server, status):
    server.answers(Answer(status=status), Answer(status=status), FINE)
    assert ask(server) == REPLY and len(server.requests) == 3


def test_the_wait_a_server_asks_for_is_kept(server):
    server.answers(Answer(status=429, headers={"Retry-After": "1"}), FINE)
    started = time.monotonic()
    assert ask(server) == REPLY and time.monotonic() - started >= 1


def test_pauses_double(server):
    server.answers(Answer(status=500))
    started = time.monotonic()
    with pytest.raises(ChatError):
        ask(server, retries=3, backoff=0.05)
    assert time.monotonic() - started >= 0.75 * 0.05 * 7 and len(server.requests) == 4


def test_tries_come_to_an_end_and_the_error_quotes_nothing(server):
    server.answers(Answer(status=500, body=f"could not handle {SECRET}".encode()))
    with pytest.raises(ChatError) as error:
        ask(server)
    assert len(server.requests) == 3
    assert str(error.value) == "status 500, Internal Server Error" and error.value.__cause__ is None


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_rejected_request_is_not_repeated(server, status):
    server.answers(Answer(status=status, body=SECRET.encode()))
    with pytest.raises(RejectedRequest, match=rf"^status {status}, [\w ]+$"):
        ask(server)
    assert len(server.requests) == 1


@pytest.mark.parametrize(("status", "advice"), [(401, "KEY"), (403, "KEY"), (404, "LONGMATCH_LLM_MODEL"), (302, "URL")])
def test_a_wrong_setting_is_an_error_at_once(server, status, advice):
    server.answers(Answer(status=status, headers={"Location": server.url + "/elsewhere"}))
    with pytest.raises(LongmatchError, match=advice) as error:
        ask(server)
    assert len(server.requests) == 1 and "the-key" not in str(error.value) and SECRET not in str(error.value)


@pytest.mark.parametrize("answer", [Answer("85", wait=9.0), Answer("85", drip=0.1)], ids=["silent", "dripping"])
def test_a_try_has_a_time_limit(server, answer):
    server.answers(answer, FINE)
    started = time.monotonic()
    assert ask(server, timeout=1.0) == REPLY
    assert time.monotonic() - started < 5


def test_a_slow_answer_within_the_limit_is_waited_for(server):
    server.answers(Answer("85", wait=0.3))
    assert ask(server) == REPLY and len(server.requests) == 1


def test_a_server_that_breaks_off_is_tried_again(server):
    server.answers(Answer(body=b"{", headers={"Content-Length": "100"}), FINE)
    assert ask(server) == REPLY


def test_nobody_there(server):
    with pytest.raises(LongmatchError, match=r"No language model is served at http://127.0.0.1:9: .* Start the server"):
        Chat(ModelAddress.of("http://127.0.0.1:9", "tiny"), 1.0, 1, 0.01).ask({})
    with pytest.raises(ChatError, match="cannot be reached"):
        Chat(ModelAddress.of(f"http://{'a' * 80}.invalid", "tiny"), 1.0, 1, 0.01).ask({})


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"choices": []}', b'{"choices": [{"message": 3}]}', b"\xff"])
def test_garbage_is_an_empty_reply(server, body):
    server.answers(Answer(body=body))
    assert ask(server) == Reply()


def test_other_forms_of_the_protocol(server):
    server.answers(
        Answer(None, message={"refusal": "No."}), Answer(None, message={"content": [{"text": "8"}, {"text": "5"}]})
    )
    assert ask(server).refused
    assert ask(server).text == "85"
    server.answers(Answer("85", usage=None))
    assert ask(server) == Reply("85")


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
