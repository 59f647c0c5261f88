"""Pages of PDFs as pictures: drawn in a separate process when asked for, kept for a while."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cachetools import LRUCache

from longmatch.documents.pdf.picture import PagePicture
from longmatch.web.limits import Limits
from longmatch.web.reading.process import draw_apart, private_file

Key = tuple[str, str, int, int, int, str]  # path or upload, member, time, size, page, passage


class PagePictures:
    """A bounded number of bytes; the picture that was not asked for longest makes room."""

    def __init__(self, limits: Limits) -> None:
        self._limits = replace(limits, reading_seconds=limits.page_seconds)
        most = limits.pictures  # bytes; one that is larger takes them all
        self._held: LRUCache[Key, PagePicture] = LRUCache(most, lambda drawn: min(len(drawn.png), most))
        self._readers = asyncio.Semaphore(limits.readers)

    async def draw(self, path: Path, member: str, shown: str, page: int, passage: str) -> PagePicture:
        """A page of a file, or of a `member` of it, called `shown` in sentences, with a passage highlighted."""
        stat = path.stat()
        key = str(path), member, stat.st_mtime_ns, stat.st_size, page, passage
        return await self._drawn(key, lambda: draw_apart(path, member, shown, page, passage, self._limits))

    async def draw_content(self, content: bytes, shown: str, page: int, passage: str) -> PagePicture:
        """The same of a file that is held in memory; it lies in a private folder while it is drawn."""

        def draw() -> PagePicture:
            with private_file(content, ".pdf") as path:
                return draw_apart(path, "", shown, page, passage, self._limits)

        return await self._drawn((shown, "", 0, len(content), page, passage), draw)

    async def _drawn(self, key: Key, draw: Callable[[], PagePicture]) -> PagePicture:
        if key not in self._held:
            async with self._readers:
                drawn = await asyncio.to_thread(draw)
            self._held[key] = drawn
            return drawn
        return self._held[key]
