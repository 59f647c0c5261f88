"""A library keeps the backbone that it was made with, and every command uses it without being told."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import lance
import pytest

from longmatch.documents.read import read_text_string
from longmatch.encoders.backbone import Backbone
from longmatch.errors import LongmatchError
from longmatch.library.errors import LibraryError
from longmatch.library.library import Library
from tests.library.tiny import made_up_text


@pytest.fixture
def model(tiny_bert: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_bert, tmp_path / "model")


@pytest.fixture
def made(model: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library made with a backbone that was named by a relative path."""
    monkeypatch.chdir(tmp_path)
    Library("library", backbone="model").add(texts)
    return tmp_path / "library"


def test_it_is_opened_with_the_backbone_that_it_was_made_with(
    made: Path, model: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    library = Library(made, create=False)
    assert library.summary()["backbone"] == str(model)
    assert library.matcher.backbone.width == Backbone.load(str(model)).width
    assert library.rank(read_text_string(made_up_text(3), "query")).same[0].id == "d003.txt"


def test_a_library_of_another_backbone_needs_no_default_model(no_default_model: None, made: Path) -> None:
    library = Library(made, create=False)
    assert library.rank(read_text_string(made_up_text(3), "query")).same[0].id == "d003.txt"


def test_another_backbone_is_refused_with_the_command_that_changes_it(made: Path, texts: Path) -> None:
    with pytest.raises(
        LibraryError, match=r"this is all-MiniLM-L6-v2\. Encode it again .*--reencode --backbone all-MiniLM-L6-v2\.$"
    ):
        Library(made, backbone="all-MiniLM-L6-v2").add(texts)


def test_encoding_again_takes_the_backbone_named_and_keeps_it(made: Path, model: Path) -> None:
    Library(made, backbone="all-MiniLM-L6-v2").reencode()
    assert Library(made, create=False).summary()["backbone"] == "all-MiniLM-L6-v2"
    Library(made, backbone=str(model)).reencode()
    Library(made, create=False).reencode()
    assert Library(made, create=False).summary()["backbone"] == str(model)


def test_a_backbone_that_is_gone_is_named(made: Path, model: Path) -> None:
    shutil.rmtree(model)
    with pytest.raises(LongmatchError, match=r"was made with the backbone .*model.* --reencode --backbone NAME"):
        Library(made, create=False).rank(read_text_string(made_up_text(3), "query"))


def test_what_the_model_card_says_of_languages_is_said_of_queries(made: Path, model: Path) -> None:
    library = Library(made, create=False)
    assert library.store.model.language_remarks("sv") == []
    (model / "README.md").write_text("---\nlanguage:\n- de\n- en\nlicense: mit\n---\n", encoding="utf-8")
    assert "documents in Swedish may be matched poorly" in library.store.model.language_remarks("sv")[0]
    assert library.store.model.language_remarks("de") == []


def test_the_record_of_the_packaged_backbone_has_not_changed(texts: Path, tmp_path: Path) -> None:
    library = Library(tmp_path / "packaged")
    library.add([texts / "d000.txt"])
    assert json.loads(library.store.model.to_json())["backbone"] == "token-vectors"


@pytest.fixture
def hub() -> Iterator[tuple[str, list[str]]]:
    """A server in the hub's place: its address, and what it was asked."""
    asked: list[str] = []

    class Recorded(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(f"{self.path} {self.headers['Authorization']}")
            self.send_error(404)

        do_GET = do_HEAD

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Recorded) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def test_a_strangers_library_asks_nobody_for_its_backbone(
    model: Path, texts: Path, tmp_path: Path, hub: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("longmatch.library.model.recorded_name", lambda backbone: "people/model")
        Library(tmp_path / "library", backbone=str(model)).add(texts)
    address, asked = hub
    settings = {**os.environ, "HF_ENDPOINT": address, "HF_HUB_CACHE": str(tmp_path / "hub")}
    settings |= {"HF_HUB_OFFLINE": "0", "HF_TOKEN": "secret"}

    def rank() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "longmatch", "rank", str(texts / "d003.txt"), "library", "--json"]
        return subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)

    refused = rank()
    assert "with the backbone people/model, which is not on this computer. It is fetched only if" in refused.stderr
    assert (refused.returncode, refused.stderr.count("\n"), refused.stdout) == (2, 1, "")
    place = tmp_path / "hub" / "models--people--model"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("a" * 40)
    shutil.copytree(model, place / "snapshots" / ("a" * 40))
    answered = rank()
    assert answered.returncode == 0 and len(json.loads(answered.stdout)["hits"]) > 1, answered.stderr
    assert asked == []


def test_a_library_whose_files_are_at_an_address_is_not_opened(texts: Path, tmp_path: Path, made: Path) -> None:
    table = made / "documents.lance"
    lance.dataset(table).shallow_clone(tmp_path / "other" / "documents.lance", lance.dataset(table).version)
    (manifest,) = (tmp_path / "other").rglob("*.manifest")
    place, address = str(table).encode(), b"s3://bucket/" + b"x" * 1_000
    manifest.write_bytes(manifest.read_bytes().replace(place, address[: len(place)]))
    with pytest.raises(LibraryError, match="has files at another address"):
        Library(tmp_path / "other", create=False)


def test_a_backbone_that_the_user_names_may_be_asked_for(
    tmp_path: Path, hub: tuple[str, list[str]], texts: Path
) -> None:
    address, asked = hub
    command = [sys.executable, "-m", "longmatch", "index", "library", str(texts), "--backbone", "people/model"]
    settings = {**os.environ, "HF_ENDPOINT": address, "HF_HUB_CACHE": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "0"}
    subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, check=False)
    assert any("people/model" in path for path in asked)
