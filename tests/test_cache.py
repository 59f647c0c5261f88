"""The user's cache: where it is, and what it remembers."""

from pathlib import Path

import pytest

from longmatch.cache import cache_folder, recall, remember


def test_it_is_where_the_environment_says_or_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "longmatch"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "longmatch"


def test_values_are_kept_by_file_and_key_and_a_damaged_file_holds_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    remember("facts.json", "a", [1, 2])
    remember("facts.json", "b", "c")
    assert (recall("facts.json", "a"), recall("facts.json", "b")) == ([1, 2], "c")
    assert recall("facts.json", "d") is None and recall("others.json", "a") is None
    (cache_folder() / "facts.json").write_text('{"a": ')
    assert recall("facts.json", "a") is None
