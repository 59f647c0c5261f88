"""The content of a document's file where that lies in a zip file or is attached to an e-mail, by the document's id."""

from pathlib import Path

from longmatch.documents.archive import Archive
from longmatch.documents.checks import is_pdf
from longmatch.documents.decoding import read_bytes
from longmatch.errors import ReadError

_HOLDERS = (".zip", ".eml", ".mbox")


def member_of(id: str, source: str) -> str:
    """The name inside the file `source` of a document with this id; empty where the file is the document itself.

    >>> member_of("2019/all.zip#a/b.pdf", "/data/2019/all.zip"), member_of("a.pdf", "/data/a.pdf")
    ('a/b.pdf', '')
    """
    holder = Path(source).name
    return id.partition(f"{holder}#")[2] if holder.lower().endswith(_HOLDERS) else ""


def shows_pages(id: str, source: str) -> bool:
    """Whether a document is a PDF, which may lie inside another file."""
    return is_pdf(source) or is_pdf(member_of(id, source))


def member_content(path: Path, member: str) -> bytes:
    """The bytes of a file inside another, within the limits that reading has; it is never written anywhere."""
    if path.name.lower().endswith(".zip"):
        with Archive(path, "a zip file") as archive:
            if member in archive:
                return archive.read(member)
            for name in archive.names:
                if name.lower().endswith(_HOLDERS[1:]) and member.startswith(f"{name}#"):
                    return _attached(archive.read(name), f"{path}#{name}", member.removeprefix(f"{name}#"), name)
        raise _missing(path, member)
    return _attached(read_bytes(path), path, member, path.name)


def _attached(data: bytes, path: object, member: str, holder: str) -> bytes:
    from longmatch.documents.attachments import attachments
    from longmatch.documents.mail import split_messages, unquoted

    if holder.lower().endswith(".mbox"):
        number, _, member = member.partition("#")
        data = next((unquoted(message) for n, message in split_messages(data, path) if str(n) == number), b"")
    for attachment in attachments(data, path):
        if attachment.name == member:
            return b"".join(attachment.content())
    raise _missing(path, member)


def _missing(path: object, member: str) -> ReadError:
    return ReadError(path, f"no longer holds {member}", "Index it again.")
