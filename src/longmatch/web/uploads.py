"""Uploaded documents: read in a separate process, held in memory for a while, never written to disk."""

import asyncio
import re
import secrets
import threading
from dataclasses import dataclass, replace

from cachetools import FIFOCache

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.web.limits import Limits
from longmatch.web.reading.process import ReadFile, read_apart, read_collection_apart

_MARKDOWN = re.compile(r"^#{1,6} \S", re.MULTILINE)  # headings as Markdown has them
_ID = re.compile(r"u-[0-9a-f]{16}")


@dataclass
class Upload:
    """A document, and its encoding once it was asked about."""

    document: Document
    content: bytes | None = None  # of a PDF file, to show its pages
    encoding: Encoding | None = None
    encoder: HybridMatcher | None = None  # what made it: another process may have changed the library's since


class Uploads:
    """A bounded number of documents; the oldest makes room for the newest."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        most = limits.uploads_characters  # a document of more takes them all
        self._held: FIFOCache[str, Upload] = FIFOCache(most, lambda upload: min(len(upload.document.text), most))
        self._lock = threading.Lock()
        self._readers = asyncio.Semaphore(limits.readers)

    async def read(self, content: bytes, name: str) -> Upload:
        """Read a file's content in a separate process and hold the document."""
        read = await self.read_apart(content, name)
        return self.hold(read.documents[0], content if name.lower().endswith(".pdf") else None)

    async def read_apart(self, content: bytes, name: str, suffix: str | None = None, *, many: bool = False) -> ReadFile:
        """Read a file's content in a separate process; with `many`, all documents that it holds."""
        async with self._readers:
            if many:
                return await asyncio.to_thread(read_collection_apart, content, name, self._limits)
            return await asyncio.to_thread(read_apart, content, name, self._limits, suffix)

    async def paste(self, text: str, title: str) -> Upload:
        """Read a pasted text in a separate process too, and hold it."""
        kind = ".md" if _MARKDOWN.search(text) else ".txt"
        [document] = (await self.read_apart(text.encode("utf-8", "replace"), "pasted text", kind)).documents
        return self.hold(replace(document, title=title) if title else document)

    def hold(self, document: Document, pdf: bytes | None = None) -> Upload:
        """Give a document its id, and keep it; with the content of its file, if that is a PDF."""
        id = f"u-{secrets.token_hex(8)}"
        upload = Upload(replace(document, id=id, source=f"upload:{id}.pdf" if pdf else ""), pdf)
        with self._lock:
            self._held[id] = upload
            while len(self._held) > max(1, self._limits.uploads):
                self._held.popitem()
            room = self._limits.upload_files  # of the oldest the text alone stays
            for held in reversed(list(self._held.values())):
                room -= len(held.content or b"")
                if room < 0:
                    held.content = None
        return upload

    def get(self, id: str) -> Upload | None:
        """The upload of that id, if it is still held."""
        with self._lock:
            return self._held.get(id)

    def drop(self, id: str) -> bool:
        """Forget an upload; whether there was one."""
        with self._lock:
            return self._held.pop(id, None) is not None

    @staticmethod
    def was_one(id: str) -> bool:
        """Whether an id is one that uploads have."""
        return bool(_ID.fullmatch(id))

    def __len__(self) -> int:
        return len(self._held)
