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
from longmatch.web.reading.collection import ReadCollection, read_collection_apart
from longmatch.web.reading.process import ReadUpload, read_apart

_MARKDOWN = re.compile(r"^#{1,6} \S", re.MULTILINE)  # headings as Markdown has them
_ID = re.compile(r"u-[0-9a-f]{16}")


@dataclass
class Upload:
    """A document, and its encoding once it was asked about."""

    document: Document
    remarks: tuple[str, ...] = ()  # of its reader
    content: bytes | None = None  # of a PDF file, to show its pages
    encoding: Encoding | None = None
    encoder: HybridMatcher | None = None  # what made it: another process may have adapted the library since

    def encoded_by(self, matcher: HybridMatcher) -> Encoding | None:
        """The encoding, where this very matcher made it."""
        return self.encoding if self.encoder is matcher else None

    def keep(self, encoding: Encoding, matcher: HybridMatcher) -> Encoding:
        """Keep an encoding and what made it."""
        self.encoding, self.encoder = encoding, matcher
        return encoding


class Uploads:
    """A bounded number of documents; the oldest makes room for the newest."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        most = limits.uploads_characters  # a document of more takes them all
        self._held: FIFOCache[str, Upload] = FIFOCache(most, lambda upload: min(len(upload.document.text), most))
        self._lock = threading.Lock()
        self._readers = asyncio.Semaphore(limits.readers)

    async def read(self, content: bytes, name: str) -> Document:
        """Read a file's content in a separate process and hold the document."""
        read = await self.read_apart(content, name)
        return self.hold(read.document, read.remarks, content if name.lower().endswith(".pdf") else None)

    async def read_apart(self, content: bytes, name: str) -> ReadUpload:
        """Read a file's content in a separate process."""
        async with self._readers:
            return await asyncio.to_thread(read_apart, content, name, self._limits)

    async def read_collection(self, content: bytes, name: str) -> ReadCollection:
        """Read the documents of a file that may hold many, in a separate process."""
        async with self._readers:
            return await asyncio.to_thread(read_collection_apart, content, name, self._limits)

    async def paste(self, text: str, title: str) -> Document:
        """Read a pasted text in a separate process too, and hold it."""
        content = text.encode("utf-8", "replace")
        kind = ".md" if _MARKDOWN.search(text) else ".txt"
        async with self._readers:
            read = await asyncio.to_thread(read_apart, content, "pasted text", self._limits, kind)
        return self.hold(replace(read.document, title=title) if title else read.document)

    def hold(self, document: Document, remarks: tuple[str, ...] = (), pdf: bytes | None = None) -> Document:
        """Give a document its id, and keep it; with the content of its file, if that is a PDF."""
        id = f"u-{secrets.token_hex(8)}"
        named = replace(document, id=id, source=f"upload:{id}.pdf" if pdf else "")
        with self._lock:
            self._held[id] = Upload(named, remarks, pdf)
            while len(self._held) > max(1, self._limits.uploads):
                self._held.popitem()
            self._drop_files()
        return named

    def _drop_files(self) -> None:
        """Forget the files of the oldest uploads where all together are too large; their texts stay."""
        room = self._limits.upload_files
        for upload in reversed(list(self._held.values())):
            room -= len(upload.content or b"")
            if room < 0:
                upload.content = None

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
