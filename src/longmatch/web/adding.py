"""Documents added to the library from the page: read apart, kept as a file, encoded and stored as a job.

The files lie in a folder inside the library, complete or not at all: they stay with it, and later runs find them.
"""

import asyncio
import os
import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.documents.formats import container_named, suffix_of
from longmatch.errors import LongmatchError
from longmatch.library.files import HASH_DIGITS
from longmatch.library.library import Library
from longmatch.library.shared_text import same_text_remarks
from longmatch.library.store import FOLDER_LIBRARY
from longmatch.web.jobs import Job, Jobs, Stopped
from longmatch.web.limits import Limits
from longmatch.web.problems import Problem, log
from longmatch.web.reading.process import ReadFile, shown_name
from longmatch.web.schema import Added
from longmatch.web.uploads import Uploads

FOLDER = "uploads"  # inside the library
BESIDE = "longmatch-uploads"  # in a folder of documents, whose library may be deleted at any time
REMOVED = ".removed-"  # before the name of a file whose document is being removed
PARTIAL = ".partial-"  # before that of one that is being written
NAME_BYTES = 200  # of a file's name, at most
_UNSAFE = re.compile(r'[<>:"/\\|?*\x00-\x1f]')


class Additions:
    """Adds documents to a library, and removes those that were added."""

    def __init__(self, library: Library, limits: Limits, uploads: Uploads, jobs: Jobs) -> None:
        self._library, self._limits, self._uploads, self._jobs = library, limits, uploads, jobs
        place = Path(library.address).resolve()
        self.folder = place.parent / BESIDE if place.name == FOLDER_LIBRARY else place / FOLDER

    async def add(self, content: bytes, name: str) -> Job:
        """Read a file and begin the job that adds it; a Problem says why it is refused."""
        name = shown_name(name)
        await asyncio.to_thread(self._check_new, name, content)
        read = await self._read(content, name)
        path = await asyncio.to_thread(self._save, name, content)
        for place, document in enumerate(read.documents):  # another file may have had its name
            if document.id.startswith(name):
                read.documents[place] = replace(document, id=path.name + document.id[len(name) :])
        try:
            return self._start(path, read, lambda: self._discard(path))
        except BaseException:
            await asyncio.to_thread(self._discard, path)
            raise

    def remove_now(self, document: Document) -> None:
        """Remove a document that was added here, and its file with all that came in it; in the scoring thread."""
        if self._uploads.was_one(document.id) or not self.holds(document.source):
            sentence = f"{document.id} was not added from the page. Remove it with longmatch remove LIBRARY ID."
            raise Problem(403, sentence)
        path = Path(document.source)
        aside = path.with_name(f"{REMOVED}{path.name}")  # if killed meanwhile, `adopt` decides
        with suppress(FileNotFoundError):
            path.replace(aside)
        try:
            self._library.remove(self._library.files.ids_of(path), wait=_refuse)
        except BaseException:
            with suppress(FileNotFoundError):
                aside.replace(path)
            raise
        aside.unlink(missing_ok=True)

    def holds(self, path: str) -> bool:
        """Whether a document's file is one of these."""
        return bool(path) and Path(path).parent == self.folder

    async def adopt(self) -> None:
        """Add the files that a server kept and was killed before it had added them; what cannot be is left there."""
        try:
            for path in await asyncio.to_thread(self._recover):
                try:
                    read = await self._read(await asyncio.to_thread(path.read_bytes), path.name)
                    job = self._start(path, read, lambda: None)
                except (Problem, OSError) as error:
                    log.warning("%s was kept, but cannot be added: %s", path.name, error)
                    continue
                while not job.has_ended:
                    await asyncio.sleep(0.1)
        except (LongmatchError, OSError) as error:
            log.warning("The files that were kept could not be looked at: %s", error)

    async def _read(self, content: bytes, name: str) -> ReadFile:
        """The documents of a file, be it one or many."""
        return await self._uploads.read_apart(content, name, many=container_named(name) is not None)

    def _start(self, path: Path, read: ReadFile, on_failure: Callable[[], None]) -> Job:
        def work(job: Job) -> Added:
            def encode(matcher: HybridMatcher) -> Sequence[Encoding]:
                encoded = job.encode(matcher, read.documents)
                job.begin("adding it to the library")
                return encoded

            try:
                job.begin("encoding the document")
                waiting = "waiting for another process to change the library"
                ids = self._library.put(path, encode, lambda: job.begin(waiting), read.problems)
            except Stopped:  # the next server adopts the file
                raise
            except BaseException:
                on_failure()
                raise
            words = sum(document.words for document in read.documents)
            remarks = [*read.sentences, *same_text_remarks(self._library.searcher(), ids)]
            return Added(id=ids[0], title=read.documents[0].title, words=words, documents=len(ids), remarks=remarks)

        return self._jobs.start(work)

    def _check_new(self, name: str, content: bytes) -> None:
        """Refuse a file that the library has, and one for which there is no room."""
        digest = blake2b(content, digest_size=HASH_DIGITS // 2).hexdigest()
        same = [path for path, known in self._library.files.hashes().items() if known == digest]
        if ids := [id for path in same for id in self._library.files.ids_of(path)]:
            raise Problem(409, f"{name} is in the library already: {ids[0]}.")
        size = sum(path.stat().st_size for path in self.folder.iterdir()) if self.folder.is_dir() else 0
        if size + len(content) > self._limits.added_bytes:
            most = f"{self._limits.added_bytes / 1e9:,.0f} GB"
            raise Problem(
                413, f"The files added to this library have {most} together, which is the limit. Remove some."
            )

    def _save(self, name: str, content: bytes) -> Path:
        """Write a file under its name, or under `name (2)` and so on where that is taken; it is on disk afterwards."""
        try:
            self.folder.mkdir(exist_ok=True)
            partial = self.folder / f"{PARTIAL}{secrets.token_hex(8)}"
            try:
                with partial.open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                path, number = self.folder / safe_name(name), 1
                stem, suffix = _split_suffix(path.name)
                while not _reserved(path):
                    number += 1
                    path = path.with_name(f"{stem} ({number}){suffix}")
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)
        except OSError as error:
            sentence = f"{name} cannot be kept ({(error.strerror or str(error)).lower()})."
            raise Problem(507, f"{sentence} Make room on the server, then add it again.") from error
        return path

    def _discard(self, path: Path) -> None:
        """Delete a file whose document was not added."""
        if not self._library.files.ids_of(path):
            path.unlink(missing_ok=True)

    def _recover(self) -> list[Path]:
        """Clean up after a server that was killed; the files whose documents are not in the library yet."""
        if not self.folder.is_dir():
            return []
        for partial in self.folder.glob(f"{PARTIAL}*"):
            partial.unlink(missing_ok=True)
        for aside in self.folder.glob(f"{REMOVED}*"):
            path = aside.with_name(aside.name.removeprefix(REMOVED))
            if self._library.files.ids_of(path):
                aside.replace(path)
            else:
                aside.unlink(missing_ok=True)
        known = self._library.files.hashes()
        files = sorted(path for path in self.folder.iterdir() if path.is_file() and not path.name.startswith("."))
        for empty in [path for path in files if not path.stat().st_size]:
            empty.unlink(missing_ok=True)
        return [path for path in files if path not in known and path.exists()]


def _reserved(path: Path) -> bool:
    """Make an empty file that nobody else can take; False where there is one already."""
    try:
        path.open("xb").close()
    except FileExistsError:
        return False
    return True


def _refuse() -> None:
    raise Problem(503, "Another process is changing the library. Try again when it is done.", {"Retry-After": "5"})


def safe_name(name: str) -> str:
    """A name that every file system takes: no hidden file, no folder, not too long.

    >>> safe_name("..a/b: c?.pdf"), len(safe_name("ä" * 300 + ".pdf").encode()) <= NAME_BYTES
    ('a_b_ c_.pdf', True)
    """
    stem, suffix = _split_suffix(_UNSAFE.sub("_", name).lstrip(". "))
    room = NAME_BYTES - len(suffix.encode("utf-8", "replace"))
    return stem.encode("utf-8", "replace")[:room].decode("utf-8", "ignore").strip() + suffix


def _split_suffix(name: str) -> tuple[str, str]:
    """The stem and the suffix of a file name, which may have two parts.

    >>> _split_suffix("a.b.JSONL.gz"), _split_suffix("a.b.png"), _split_suffix("a")
    (('a.b', '.JSONL.gz'), ('a.b', '.png'), ('a', ''))
    """
    at = len(name) - len(suffix_of(name) or Path(name).suffix)
    return name[:at], name[at:]
