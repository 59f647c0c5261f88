"""Documents added to the library from the page: read apart, kept as a file, encoded and stored as a job."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.document import Document
from longmatch.errors import LongmatchError
from longmatch.web.added_files import AddedFiles
from longmatch.web.jobs import Job
from longmatch.web.problems import Problem, log
from longmatch.web.ranking import WatchedBackbone
from longmatch.web.reading.process import ReadUpload, shown_name
from longmatch.web.schema import Added
from longmatch.web.state import State

NOT_WRITABLE = "This server adds no documents. Start it with --writable: longmatch serve LIBRARY --writable."


async def add(state: State, content: bytes, name: str) -> Job:
    """Read a file and begin the job that adds it; a Problem says why it is refused."""
    files = files_of(state)
    name = shown_name(name)
    await asyncio.to_thread(files.check_new, name, content)
    read = await state.uploads.read_apart(content, name)
    path = await asyncio.to_thread(files.save, name, content)
    try:
        return _start(state, path, read, lambda: files.discard(path))
    except BaseException:
        await asyncio.to_thread(files.discard, path)
        raise


def files_of(state: State) -> AddedFiles:
    """The folder of added files of a server that may add."""
    if state.added is None:
        raise Problem(403, NOT_WRITABLE)
    return state.added


def _start(state: State, path: Path, read: ReadUpload, on_failure: Callable[[], None]) -> Job:
    def work(job: Job) -> Added:
        def encode(matcher: HybridMatcher) -> Encoding:
            watched = HybridMatcher(WatchedBackbone(matcher.backbone, job), matcher.statistics)
            encoded: Encoding = watched.encode([read.document])[0]
            job.begin("adding it to the library")
            return encoded

        try:
            job.begin("encoding the document")
            id = state.library.put(
                path, encode, wait=lambda: job.begin("waiting for another process to change the library")
            )
        except BaseException:
            on_failure()
            raise
        return _added(id, read.document, (*read.remarks, *state.library.same_text([id])))

    return state.jobs.start(work)


def _added(id: str, document: Document, remarks: tuple[str, ...]) -> Added:
    return Added(id=id, title=document.title, words=document.words, remarks=list(remarks))


def remove_now(state: State, id: str) -> None:
    """Remove a document that was added here, and its file."""
    files = files_of(state)
    document = state.document(id)
    if state.uploads.was_one(id) or not files.holds(document.source):
        raise Problem(403, f"{id} was not added from the page. Remove it with longmatch remove LIBRARY ID.")
    with files.removing(Path(document.source)):
        state.library.remove(id, wait=_refuse)


def _refuse() -> None:
    raise Problem(503, "Another process is changing the library. Try again when it is done.", {"Retry-After": "5"})


async def adopt(state: State) -> None:
    """Add the files that a server kept and was killed before it had added them; one that cannot be is left there."""
    if state.added is None:
        return
    try:
        for path in await asyncio.to_thread(state.added.recover):
            await _adopt_file(state, path)
    except (LongmatchError, OSError) as error:
        log.warning("The files that were kept could not be looked at: %s", error)


async def _adopt_file(state: State, path: Path) -> None:
    try:
        read = await state.uploads.read_apart(await asyncio.to_thread(path.read_bytes), path.name)
        job = _start(state, path, read, lambda: None)
    except (Problem, OSError) as error:
        log.warning("%s was kept, but cannot be added: %s", path.name, error)
        return
    while not job.has_ended:
        await asyncio.sleep(0.1)
