"""Zip files of documents: one document per member."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from longmatch.documents.archive import LARGEST_MEMBER, Archive
from longmatch.documents.containers import Found, Member, Unread, documents_of, passed_over, read_unpacked
from longmatch.documents.formats import suffix_of
from longmatch.documents.mail import attached_content
from longmatch.errors import ReadError

_LEAST_SIZE = 125_000  # bytes that take as long to read as opening a file


@dataclass(frozen=True)
class ZipMember(Member):
    """A file in a zip file."""

    @classmethod
    def together(cls, members: Sequence[Member], id: str) -> Iterator[Found]:
        """Open the zip file once."""
        path, names = members[0].path, [member.name for member in members]
        try:
            with Archive(path, "a zip file", LARGEST_MEMBER * len(names)) as archive:
                parts = ((name, archive.slices(name)) for name in names)
                packed = sum(archive.members[name].compress_size for name in names)
                yield from read_unpacked(parts, path, id, documents_of, packed)
        except ReadError as error:
            yield error

    def documents(self, id: str) -> Iterator[Found]:
        """Its documents have ids that begin with `ID#NAME`, but for those in JSON Lines."""
        return self.together([self], id)

    def content(self, wanted: str) -> bytes | None:
        """The file itself, or one that is attached to it."""
        with Archive(self.path, "a zip file") as archive:
            data = archive.read(self.name)
        if wanted == self.name:
            return data
        return attached_content(data, self.address, wanted.removeprefix(f"{self.name}#"), self.name)


def zip_members(path: Path) -> Iterator[Member]:
    """The members that are documents, in order, after what cannot be read: zip files in it, and other formats."""
    found: list[Member] = []
    problems: list[Member] = []
    others: list[str] = []
    with Archive(path, "a zip file") as archive:
        if sum(info.file_size for info in archive.members.values()) > LARGEST_MEMBER * 10 + 30 * path.stat().st_size:
            raise ReadError(path, "unpacks to a huge size", "It is not an ordinary collection; leave it out.")
        for name, info in archive.members.items():
            parts = name.split("/")
            is_hidden = any(part.startswith((".", "~$")) and part != ".." for part in parts)
            if name.endswith("/") or parts[0] == "__MACOSX" or is_hidden:
                continue
            if suffix_of(name) == ".zip":
                problem = ReadError(f"{path}#{name}", "is a zip file in a zip file", "Unpack the outer one.")
                problems.append(Unread(path, name, said=problem))
            elif suffix_of(name):
                found.append(ZipMember(path, name, max(_LEAST_SIZE, info.file_size)))
            else:
                others.append(name)
    if not found and not problems:
        raise ReadError(path, "is a zip file without a file that longmatch reads", "Unpack it, or leave it out.")
    yield from problems
    if others and found:
        yield Unread(path, said=passed_over(path, others, "file"))
    yield from found
