"""What the routes share: the library, its models, the uploads, the jobs, and the thread that scores."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar
from urllib.parse import urlencode

from cachetools import LRUCache
from fastapi import Depends, Request

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.documents.containers import member_of, shows_pages
from longmatch.documents.document import Document
from longmatch.documents.pdf.picture import PagePicture
from longmatch.library.library import Library
from longmatch.matching.match import Grid, Level, Match
from longmatch.web.added_files import AddedFiles
from longmatch.web.catalogue import Catalogue
from longmatch.web.jobs import Jobs
from longmatch.web.limits import Limits
from longmatch.web.mapping.chart import Chart
from longmatch.web.models import DEFAULT, ModelShelf
from longmatch.web.pictures import PagePictures
from longmatch.web.problems import Problem, log, without_paths
from longmatch.web.rankers import Rankers
from longmatch.web.schema import Described
from longmatch.web.uploads import Uploads
from longmatch.web.worker import Worker

HIGHLIGHTED = 5_000  # characters of a passage
GRIDS = 3  # kept: the levels of the comparison that is looked at

P = ParamSpec("P")
T = TypeVar("T")


class State:
    """One server's state. Methods that end in _now run in the scoring thread."""

    def __init__(
        self, library: Library, limits: Limits, trained: Mapping[str, Path] | None = None, writable: bool = False
    ) -> None:
        self.library, self.limits = library, limits
        self.added = AddedFiles(library, limits) if writable else None
        self.worker = Worker(limits.waiting)
        self.rankers = Rankers(library.address if library.opens_by_address else None, limits)
        self.models = ModelShelf(library, trained)
        self.uploads = Uploads(limits)
        self.pictures = PagePictures(limits)
        self.jobs = Jobs(self.worker, limits.jobs, lambda sentence: without_paths(sentence, library))
        self.catalogue = Catalogue(library)
        self.chart = Chart(library, self.catalogue)
        self.ready = False
        self._compared: LRUCache[tuple[Any, ...], Match] = LRUCache(limits.comparisons)
        self._grids: LRUCache[tuple[int, Level], tuple[Match, Grid]] = LRUCache(GRIDS)  # with its match: ids stay true

    async def work(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Run something in the scoring thread, off the event loop."""
        return await self.worker.ask(function, *arguments, **named)

    def warm_now(self) -> None:
        """Open the model and the index, so that the first question is as quick as the next."""
        self.library.matcher.backbone.encode_texts(["It rained."])
        if len(self.library):
            self.library.vectors()
        self.ready = True

    def document(self, id: str) -> Document:
        """The upload or the document of the library with this id."""
        upload = self.uploads.get(id)
        if upload is not None:
            return upload.document
        if self.catalogue.get(id) is None:
            raise self.unknown(id)
        return self.library.show(id)

    def described(self, id: str) -> Described:
        """The same in a few words, without its text."""
        upload = self.uploads.get(id)
        found = Described.of(upload.document) if upload else self.catalogue.get(id)
        if found is None:
            raise self.unknown(id)
        return found

    async def page(self, id: str, page: int, start: int, end: int) -> PagePicture:
        """A page of a document's PDF as a picture, the characters from `start` to `end` highlighted."""
        document = await asyncio.to_thread(self.document, id)
        if not shows_pages(id, document.source):
            raise Problem(415, f"{id} is not a PDF file, so its pages cannot be shown.")
        passage = document.readable[start : min(end, start + HIGHLIGHTED)]
        if self.uploads.was_one(id):
            upload = self.uploads.get(id)
            if upload is None or upload.content is None:
                raise Problem(404, "The file of this upload is no longer held. Upload it again to see its pages.")
            return await self.pictures.draw_content(upload.content, id, page, passage)
        path = await asyncio.to_thread(self.library.unchanged_file, document)
        return await self.pictures.draw(path, member_of(id, document.source), id, page, passage)

    def unknown(self, id: str) -> Problem:
        """There is no such document."""
        if self.uploads.was_one(id):
            return Problem(404, "This upload is no longer held. Upload the document again.")
        return Problem(404, f"There is no document {id}. Look at the list of documents.")

    def query_now(self, id: str) -> str | Encoding:
        """The query for the library: one of its ids, or an upload's encoding, which is kept."""
        upload = self.uploads.get(id)
        if upload is None:
            return self.described(id).id
        matcher = self.matcher_now()
        return upload.encoded_by(matcher) or upload.keep(matcher.encode([upload.document])[0], matcher)

    def matcher_now(self) -> HybridMatcher:
        """The library's model, as other processes have left it."""
        self.library.refresh()
        return self.library.matcher

    async def comparison(self, a: str, b: str, model: str | None = None) -> Match:
        """Two documents compared, or the sections of one where both are the same; kept for a while."""
        name = model or DEFAULT
        self.models.check(name)
        return await self.work(self._compare_now, a, b, name)

    def _compare_now(self, a: str, b: str, model: str) -> Match:
        key = self.library.version, a, b, model
        if (match := self._compared.get(key)) is None:
            match = self._compared[key] = self._match_now(a, b, model)
        return match

    def _match_now(self, a: str, b: str, model: str) -> Match:
        if model == DEFAULT:
            return self.library.within(self.query_now(a)) if a == b else self._library_match(a, b)
        matcher = self.models.get(model)
        return matcher.within(self.document(a)) if a == b else matcher.compare(self.document(a), self.document(b))

    def _library_match(self, a: str, b: str) -> Match:
        return self.library.compare(self.query_now(a), self.query_now(b))

    def grid_now(self, match: Match, level: Level) -> Grid:
        """A level of a comparison, if it is not too large to be sent."""
        key = id(match), level
        if key not in self._grids:
            self._grids[key] = match, match.at(level)
        grid = self._grids[key][1]
        if grid.scores.size > self.limits.cells:
            sizes = " x ".join(f"{n:,}" for n in grid.scores.shape)
            raise Problem(422, f"The grid of {level} has {sizes} cells. Ask for a coarser level: chunks or sections.")
        return grid

    def open(self) -> None:
        """Take questions; the model is opened meanwhile."""
        self.worker.open()
        if not self.ready:
            self.worker.begin(self.warm_now).add_done_callback(self._log_failure)

    def _log_failure(self, warmed: "Future[None]") -> None:
        """Log why the model could not be opened; requests that need it report it too."""
        error = None if warmed.cancelled() else warmed.exception()
        if error is not None:
            log.warning("%s", error)

    def close(self) -> None:
        """End all jobs."""
        self.jobs.stop()
        self.worker.close()


def address_of(match: Match, model: str | None = None) -> str:
    """Where the page shows a comparison."""
    named = {"model": model} if model and model != DEFAULT else {}
    if match.a is match.b:
        return f"/#/within?{urlencode({'document': match.a.id} | named)}"
    return f"/#/compare?{urlencode({'a': match.a.id, 'b': match.b.id} | named)}"


def _state_of(request: Request) -> State:
    state: State = request.app.state.longmatch
    return state


TheState = Annotated[State, Depends(_state_of)]
