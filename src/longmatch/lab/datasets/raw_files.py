"""The upstream files a builder reads: a folder or an archive, searched by pattern."""

import lzma
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from longmatch.errors import ReadError

_COPY_SIZE = 1 << 20  # bytes
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")

_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,  # a zip file with a password or an unknown compression method
)


@dataclass(frozen=True)
class Limits:
    """Limits on what is unpacked, against archive bombs: small files that expand to fill a disk."""

    files: int = 2_000_000
    size: int = 1 << 37  # bytes in total: 128 GiB
    ratio: int = 250  # unpacked to packed, checked after the first `free` bytes
    free: int = 1 << 27


def is_archive(path: Path) -> bool:
    """Whether a path has the name of an archive."""
    return path.name.lower().endswith(_ARCHIVES)


def unpack(archive: Path, folder: Path, limits: Limits | None = None) -> None:
    """Unpack a .zip or .tar file into a folder; raise ReadError for members outside it, links, devices and bombs."""
    limits = limits or Limits()
    packed = archive.stat().st_size
    written = 0
    try:
        for count, (name, stream) in enumerate(_members(archive), 1):
            place = PurePosixPath(name)
            leaves = place.is_absolute() or ".." in place.parts or re.match(r"[A-Za-z]:", name)
            if leaves or "\\" in name or "\0" in name:
                raise _refuse(archive, f"holds a file that would land outside the folder ({name})")
            target = folder / place
            if count > limits.files:
                raise _refuse(archive, f"holds more than {limits.files:,} files")
            target.parent.mkdir(parents=True, exist_ok=True)
            with stream, target.open("wb") as out:
                while block := stream.read(_COPY_SIZE):
                    written += len(block)
                    if written > limits.size or (written > limits.free and written > packed * limits.ratio):
                        raise _refuse(archive, f"unpacks to more than {written - 1:,} bytes from {packed:,}")
                    out.write(block)
    except _BROKEN as error:
        raise ReadError(archive, f"cannot be unpacked ({error})", "Fetch it again.") from error


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The regular files of an archive with their contents, in archive order."""
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if stat.S_ISLNK(info.external_attr >> 16):
                    raise _refuse(archive, f"holds a link ({info.filename})")
                if not info.is_dir():
                    yield info.filename, packed.open(info)
        return
    with tarfile.open(archive, "r|*") as tar:
        for member in tar:
            if member.isdir():
                continue
            content = tar.extractfile(member) if member.isfile() else None
            if content is None:
                raise _refuse(archive, f"holds a link or a device ({member.name})")
            yield member.name, content


def _refuse(archive: Path, problem: str) -> ReadError:
    return ReadError(archive, problem, "Do not trust it.")


def natural_key(path: Path) -> tuple[object, ...]:
    """A sort key that puts pep-9 before pep-10."""
    return tuple((not p.isdigit(), int(p) if p.isdigit() else p) for p in re.split(r"([0-9]+)", path.as_posix()) if p)


@dataclass(frozen=True)
class RawFiles:
    """The upstream files below one or more folders (archives inside a folder are unpacked to separate ones)."""

    origin: Path  # as named by the user, for errors
    roots: tuple[Path, ...]

    def find(self, *patterns: str) -> list[Path]:
        """The files whose path matches one of the glob patterns, in natural order."""
        files = {
            path: path.relative_to(root)
            for root in self.roots
            for pattern in patterns
            for path in ([root] if root.is_file() else root.rglob(pattern))
            if path.is_file() and not path.name.startswith("._")
        }
        return sorted(files, key=lambda path: natural_key(files[path]))

    def require(self, *patterns: str) -> list[Path]:
        """Like `find`, but raise ReadError if there are none."""
        files = self.find(*patterns)
        if not files:
            raise ReadError(
                self.origin, f"holds no {' or '.join(patterns)}", "See `longmatch data show` for its layout."
            )
        return files

    def require_one(self, *patterns: str) -> Path:
        """The first file that matches; raise ReadError if there is none."""
        return self.require(*patterns)[0]


@contextmanager
def open_raw(raw: Path) -> Iterator[RawFiles]:
    """Open a folder, an archive, or a folder with archives; unpacked files are deleted after the block."""
    if not raw.exists():
        raise ReadError(raw, "does not exist", "Name the folder or archive with the upstream files.")
    nested = [path for path in sorted(raw.rglob("*")) if path.is_file() and is_archive(path)] if raw.is_dir() else []
    archives = [raw] if is_archive(raw) else nested
    with TemporaryDirectory(prefix="longmatch-") as scratch:
        unpacked = [Path(scratch) / str(number) for number in range(len(archives))]
        for archive, folder in zip(archives, unpacked, strict=True):
            folder.mkdir()
            unpack(archive, folder)
        yield RawFiles(raw, (*unpacked,) if archives == [raw] else (raw, *unpacked))
