"""Who is answered, and what every answer carries."""

import pytest

from longmatch.web.security import POLICY
from tests.web.conftest import API, calling

TOKEN = "a-long-enough-token"


@pytest.mark.parametrize("host", ["localhost", "localhost:8642", "127.0.0.1:1", "[::1]:8642", "LOCALHOST"])
def test_this_computers_names_are_answered(client, host):
    assert client.get(f"{API}/health", headers={"host": host}).status_code == 200


NOT_OURS = ["evil.example", "evil.example:8642", "localhost.evil.example", "127.0.0.1.evil", ""]
NOT_OURS += ["[::1].evil.example", "localhost:x:evil.example", "127.0.0.1:1@evil.example", "localhost:", "localhost/x"]


@pytest.mark.parametrize("host", NOT_OURS)
def test_another_name_is_refused_so_that_no_site_can_rebind_its_own_to_this_computer(client, host):
    for path in ("/", f"{API}/health", "/docs"):
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == 421 and answer.json()["detail"].endswith("printed.")


def test_a_name_the_server_was_started_with_is_answered(shelf):
    with calling(shelf, hosts=frozenset({"library.example"})) as client:
        assert client.get(f"{API}/health", headers={"host": "library.example:80"}).status_code == 200
        assert client.get(f"{API}/health").status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_sites_page_may_neither_ask_nor_send(client, headers):
    assert client.get(f"{API}/documents", headers=headers).status_code == 403
    sent = client.post(f"{API}/uploads", json={"text": "The river rose."}, headers=headers)
    assert sent.status_code == 403 and len(client.app.state.longmatch.uploads) == 0


def test_of_two_hosts_or_origins_neither_counts(client):
    path = f"{API}/documents"
    assert client.get(path, headers=[("host", "localhost"), ("host", "evil.example")]).status_code == 421
    for origins in (["http://localhost", "https://evil.example"], ["https://evil.example", "http://localhost"]):
        assert client.get(path, headers=[("origin", origin) for origin in origins]).status_code == 403


def test_the_own_page_may_ask(client):
    headers = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    assert client.get(f"{API}/documents", headers=headers).status_code == 200


def test_no_other_site_is_told_that_it_may_read(client):
    answer = client.options(
        f"{API}/documents", headers={"origin": "https://evil.example", "access-control-request-method": "GET"}
    )
    assert answer.status_code == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


@pytest.mark.parametrize("path", ["/", "/docs", f"{API}/health", f"{API}/nowhere", "/nowhere", f"{API}/rank"])
def test_every_answer_carries_the_policy(client, path):
    headers = client.get(path).headers
    assert headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY and "default-src 'none'" in POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_no_answer_of_the_interface_is_kept_by_the_browser(client):
    assert client.get(f"{API}/documents").headers["cache-control"] == "no-store"


def test_with_a_token_only_those_who_know_it_are_answered(shelf):
    with calling(shelf, token=TOKEN) as client:
        refused = client.get(f"{API}/documents")
        assert refused.status_code == 401 and refused.headers["www-authenticate"] == "Bearer"
        assert refused.json()["detail"].startswith("This server wants its token")
        for wrong in ("Bearer", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"):
            header = {"authorization": wrong.encode("latin-1")}
            assert client.get(f"{API}/documents", headers=header).status_code == 401
        right = {"authorization": f"Bearer {TOKEN}"}
        assert client.get(f"{API}/documents", headers=right).status_code == 200


def test_a_token_guards_every_route_of_the_interface(shelf):
    with calling(shelf, token=TOKEN) as client:
        for path, methods in client.app.openapi()["paths"].items():
            for method in methods:
                assert client.request(method, path).status_code == 401, (method, path)


def test_the_page_and_the_description_need_no_token_and_do_not_hold_it(shelf):
    with calling(shelf, token=TOKEN) as client:
        for path in ("/", "/docs", "/docs.css", f"{API}/openapi.json"):
            answer = client.get(path)
            assert answer.status_code == 200 and TOKEN not in answer.text


def test_a_token_in_the_address_does_not_count(shelf):
    with calling(shelf, token=TOKEN) as client:
        assert client.get(f"{API}/documents?token={TOKEN}").status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/%2e%2e/security.py",
        "/static//etc/passwd",
        "/static/page/../../app.py",
        "/web/app.py",
        "/page/index.html",
    ],
)
def test_no_other_file_is_served(client, path):
    answer = client.get(path)
    assert answer.status_code == 404 and "def " not in answer.text


def test_the_description_loads_nothing_from_elsewhere(client):
    page = client.get("/docs").text
    assert "//" not in page.replace("<!doctype", "") and "<script" not in page
    paths = client.app.openapi()["paths"]
    assert all(path in page for path in paths) and "openapi.json" in page


def test_a_mistake_inside_is_a_sentence_without_a_traceback(client, monkeypatch, caplog):
    from longmatch.web.catalogue import Catalogue

    def broken(*_):
        raise KeyError("/secret/place")

    monkeypatch.setattr(Catalogue, "page", broken)
    answer = client.get(f"{API}/documents")
    assert answer.status_code == 500 and "secret" not in answer.text
    assert answer.json()["detail"].startswith("longmatch could not answer")
    assert "secret" in caplog.text
