"""Upstream folders and archives."""

import io
import tarfile
import zipfile

import pytest

from longmatch.errors import ReadError
from longmatch.lab.datasets.raw_files import Limits, open_raw, unpack


def make_zip(path, names):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            packed.writestr(name, "content")
    return path


def make_tar(path, name, kind=tarfile.REGTYPE, link=""):
    with tarfile.open(path, "w:gz") as tape:
        member = tarfile.TarInfo(name)
        member.type, member.linkname, member.size = kind, link, 7 if kind == tarfile.REGTYPE else 0
        tape.addfile(member, io.BytesIO(b"content"))
    return path


@pytest.mark.parametrize("name", ["../evil.txt", "a/../../evil.txt", "/evil.txt", "C:/evil.txt", "..\\evil.txt"])
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_file_that_would_land_outside_is_refused(tmp_path, name, kind):
    archive = tmp_path / f"bad.{kind}"
    make_zip(archive, [name]) if kind == "zip" else make_tar(archive, name)
    (tmp_path / "in" / "here").mkdir(parents=True)
    with pytest.raises(ReadError, match="would land outside"):
        unpack(archive, tmp_path / "in" / "here")
    assert not list(tmp_path.rglob("*evil*"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    with pytest.raises(ReadError, match="holds a link or a device"):
        unpack(make_tar(tmp_path / "bad.tar.gz", "link", kind, "/etc"), tmp_path)


def test_a_link_in_a_zip_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as packed:
        info = zipfile.ZipInfo("link")
        info.external_attr = 0o120777 << 16
        packed.writestr(info, "/etc/passwd")
    with pytest.raises(ReadError, match="holds a link"):
        unpack(tmp_path / "bad.zip", tmp_path)


def test_a_bomb_is_refused_before_it_fills_the_disk(tmp_path):
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("zeros", bytes(20_000_000))
    (tmp_path / "to").mkdir()
    with pytest.raises(ReadError, match="unpacks to more than"):
        unpack(tmp_path / "bomb.zip", tmp_path / "to", Limits(free=1_000_000))
    assert (tmp_path / "to" / "zeros").stat().st_size < 10_000_000


def test_too_many_files_are_refused(tmp_path):
    with pytest.raises(ReadError, match="more than 2 files"):
        unpack(make_zip(tmp_path / "many.zip", "abc"), tmp_path, Limits(files=2))


def test_a_damaged_archive_is_said_to_be(tmp_path):
    (tmp_path / "cut.zip").write_bytes(b"PK not a zip")
    with pytest.raises(ReadError, match=r"cut\.zip cannot be unpacked"), open_raw(tmp_path / "cut.zip"):
        pass


def test_an_archive_cut_short_is_said_to_be(tmp_path):
    with tarfile.open(tmp_path / "whole.tar.gz", "w:gz") as tape:
        member = tarfile.TarInfo("noise")
        member.size = 100_000
        tape.addfile(member, io.BytesIO(bytes(n * n % 251 for n in range(100_000))))
    (tmp_path / "cut.tar.gz").write_bytes((tmp_path / "whole.tar.gz").read_bytes()[:500])
    with pytest.raises(ReadError, match=r"cut\.tar\.gz cannot be unpacked"), open_raw(tmp_path / "cut.tar.gz"):
        pass


def test_an_archive_reads_like_the_folder_it_was(tmp_path):
    with open_raw(make_zip(tmp_path / "x.zip", ["top/pep-10.rst", "top/pep-9.rst"])) as files:
        assert [path.name for path in files.find("pep-*.rst")] == ["pep-9.rst", "pep-10.rst"]
        unpacked = files.require_one("pep-9.rst")
    assert not unpacked.exists()


def test_an_archive_inside_a_folder_is_opened_too(tmp_path):
    (tmp_path / "data").mkdir()
    make_zip(tmp_path / "data" / "x.zip", ["inner.json"])
    with open_raw(tmp_path) as files:
        assert files.require_one("inner.json").read_text() == "content"


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(ReadError, match=r"holds no acl\.txt"), open_raw(tmp_path) as files:
        files.require_one("acl.txt")
    with pytest.raises(ReadError, match="does not exist"), open_raw(tmp_path / "nowhere"):
        pass
