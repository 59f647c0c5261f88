"""Documents added to the library from the page: read apart, kept as a file, encoded and stored as a job."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.errors import LongmatchError
from longmatch.web.added_files import AddedFiles
from longmatch.web.jobs import Job, Stopped
from longmatch.web.problems import Problem, log
from longmatch.web.ranking import WatchedBackbone
from longmatch.web.reading.collection import ReadCollection, may_hold_many
from longmatch.web.reading.process import shown_name
from longmatch.web.schema import Added
from longmatch.web.state import State

NOT_WRITABLE = "This server adds no documents. Start it with --writable: longmatch serve LIBRARY --writable."


async def add(state: State, content: bytes, name: str) -> Job:
    """Read a file and begin the job that adds it; a Problem says why it is refused."""
    files = files_of(state)
    name = shown_name(name)
    await asyncio.to_thread(files.check_new, name, content)
    read = await _read(state, content, name)
    path = await asyncio.to_thread(files.save, name, content)
    try:
        return _start(state, path, _called(read, name, path.name), lambda: files.discard(path))
    except BaseException:
        await asyncio.to_thread(files.discard, path)
        raise


async def _read(state: State, content: bytes, name: str) -> ReadCollection:
    """The documents of a file, be it one or many."""
    if may_hold_many(name):
        return await state.uploads.read_collection(content, name)
    read = await state.uploads.read_apart(content, name)
    return ReadCollection([read.document], remarks=list(read.remarks))


def _called(read: ReadCollection, name: str, kept: str) -> ReadCollection:
    """The documents under the name by which their file is kept: another file may have had its own."""
    documents = [
        replace(one, id=kept + one.id[len(name) :]) if one.id.startswith(name) else one for one in read.documents
    ]
    return replace(read, documents=documents)


def files_of(state: State) -> AddedFiles:
    """The folder of added files of a server that may add."""
    if state.added is None:
        raise Problem(403, NOT_WRITABLE)
    return state.added


def _start(state: State, path: Path, read: ReadCollection, on_failure: Callable[[], None]) -> Job:
    def work(job: Job) -> Added:
        def encode(matcher: HybridMatcher) -> Sequence[Encoding]:
            watched = HybridMatcher(WatchedBackbone(matcher.backbone, job), matcher.statistics)
            encoded = watched.encode(read.documents)
            job.begin("adding it to the library")
            return encoded

        try:
            job.begin("encoding the document")
            waiting = "waiting for another process to change the library"
            ids = state.library.put(path, encode, lambda: job.begin(waiting), read.problems)
        except Stopped:  # the next server adopts the file
            raise
        except BaseException:
            on_failure()
            raise
        return _added(ids, read, state.library.same_text(ids))

    return state.jobs.start(work)


def _added(ids: Sequence[str], read: ReadCollection, same: Sequence[str]) -> Added:
    words = sum(document.words for document in read.documents)
    remarks = [*read.sentences, *same]
    return Added(id=ids[0], title=read.documents[0].title, words=words, documents=len(ids), remarks=remarks)


def remove_now(state: State, id: str) -> None:
    """Remove a document that was added here, and its file with all that came in it."""
    files = files_of(state)
    document = state.document(id)
    if state.uploads.was_one(id) or not files.holds(document.source):
        raise Problem(403, f"{id} was not added from the page. Remove it with longmatch remove LIBRARY ID.")
    with files.removing(Path(document.source)):
        state.library.remove(state.library.ids_of(document.source), wait=_refuse)


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
        read = await _read(state, await asyncio.to_thread(path.read_bytes), path.name)
        job = _start(state, path, read, lambda: None)
    except (Problem, OSError) as error:
        log.warning("%s was kept, but cannot be added: %s", path.name, error)
        return
    while not job.has_ended:
        await asyncio.sleep(0.1)
