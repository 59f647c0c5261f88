"""The upstream files a builder reads: a folder or an archive of them, looked up by pattern."""

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

COPY = 1 << 20  # bytes at a time
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")

_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,  # a zip file that asks for a password, or is packed in an unknown way
)


@dataclass(frozen=True)
class Limits:
    """What an archive may hold before it is refused: bombs are small files that unpack to all of a disk."""

    files: int = 2_000_000
    size: int = 1 << 37  # bytes in all: 128 GiB
    ratio: int = 250  # unpacked to packed, asked for once more than `free` bytes are out
    free: int = 1 << 27


def is_archive(path: Path) -> bool:
    """Whether the name says so."""
    return path.name.lower().endswith(ARCHIVES)


def unpack(archive: Path, folder: Path, limits: Limits | None = None) -> None:
    """Unpack a .zip or .tar file into a folder; refused if a member would land outside it, is a link, or is a bomb."""
    limits = limits or Limits()
    packed = archive.stat().st_size
    written = 0
    try:
        for count, (name, stream) in enumerate(_members(archive), 1):
            target = folder / _safe_name(archive, name)
            if count > limits.files:
                raise _refuse(archive, f"holds more than {limits.files:,} files")
            target.parent.mkdir(parents=True, exist_ok=True)
            with stream, target.open("wb") as out:
                while block := stream.read(COPY):
                    written += len(block)
                    if written > limits.size or (written > limits.free and written > packed * limits.ratio):
                        raise _refuse(archive, f"unpacks to more than {written - 1:,} bytes from {packed:,}")
                    out.write(block)
    except _BROKEN as error:
        raise ReadError(archive, f"cannot be unpacked ({error})", "Fetch it again.") from error


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The plain files of an archive with their contents, in its own order."""
    if archive.name.lower().endswith(".zip"):
        with zipfile.ZipFile(archive) as packed:
            for info in packed.infolist():
                if stat.S_ISLNK(info.external_attr >> 16):
                    raise _refuse(archive, f"holds a link ({info.filename})")
                if not info.is_dir():
                    yield info.filename, packed.open(info)
        return
    with tarfile.open(archive, "r|*") as tape:
        for member in tape:
            if member.isdir():
                continue
            content = tape.extractfile(member) if member.isfile() else None
            if content is None:
                raise _refuse(archive, f"holds a link or a device ({member.name})")
            yield member.name, content


def _safe_name(archive: Path, name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or re.match(r"[A-Za-z]:", name):
        raise _refuse(archive, f"holds a file that would land outside the folder ({name})")
    return path


def _refuse(archive: Path, problem: str) -> ReadError:
    return ReadError(archive, problem, "Do not trust it.")


def natural(path: Path) -> tuple[object, ...]:
    """A sorting key that puts pep-9 before pep-10."""
    return tuple((not p.isdigit(), int(p) if p.isdigit() else p) for p in re.split(r"([0-9]+)", path.as_posix()) if p)


@dataclass(frozen=True)
class RawFiles:
    """The upstream files under one folder or several (an archive inside a folder is unpacked to one of its own)."""

    origin: Path  # as the user named it, for errors
    roots: tuple[Path, ...]

    def each(self, *patterns: str) -> list[Path]:
        """The files whose path ends like one of the patterns, in natural order."""
        found = {
            path: path.relative_to(root)
            for root in self.roots
            for pattern in patterns
            for path in ([root] if root.is_file() else root.rglob(pattern))
            if path.is_file() and not path.name.startswith("._")
        }
        return sorted(found, key=lambda path: natural(found[path]))

    def some(self, *patterns: str) -> list[Path]:
        """The same, but at least one."""
        found = self.each(*patterns)
        if not found:
            raise ReadError(
                self.origin, f"holds no {' or '.join(patterns)}", "See `longmatch data show` for its layout."
            )
        return found

    def one(self, *patterns: str) -> Path:
        """The first of them."""
        return self.some(*patterns)[0]


@contextmanager
def opened(raw: Path) -> Iterator[RawFiles]:
    """Open a folder, an archive, or a folder that holds archives; what is unpacked is gone after the block."""
    if not raw.exists():
        raise ReadError(raw, "does not exist", "Name the folder or archive with the upstream files.")
    inside = [path for path in sorted(raw.rglob("*")) if path.is_file() and is_archive(path)] if raw.is_dir() else []
    archives = [raw] if is_archive(raw) else inside
    with TemporaryDirectory(prefix="longmatch-") as scratch:
        unpacked = [Path(scratch) / str(number) for number in range(len(archives))]
        for archive, folder in zip(archives, unpacked, strict=True):
            folder.mkdir()
            unpack(archive, folder)
        yield RawFiles(raw, (*unpacked,) if archives == [raw] else (raw, *unpacked))
