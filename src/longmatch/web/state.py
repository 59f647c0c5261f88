"""What the routes share: the library, its models, the uploads, the jobs, and the thread that scores."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar
from urllib.parse import urlencode

from cachetools import LRUCache
from fastapi import Depends, Request

from longmatch.default.encoding import Encoding
from longmatch.default.meaning import encode_texts
from longmatch.documents.containers import member_of, shows_pages
from longmatch.documents.document import Document
from longmatch.documents.pdf.picture import PagePicture
from longmatch.encoders.reader import INSTALL, Reader
from longmatch.library.conditions import parse
from longmatch.library.finding import absent_keys
from longmatch.library.library import Library
from longmatch.matching.match import Grid, Level, Match
from longmatch.matching.matcher import Matcher
from longmatch.matching.wording import none_matches
from longmatch.models.registry import models, names_of
from longmatch.web.adding import Additions
from longmatch.web.catalogue import Catalogue
from longmatch.web.jobs import Job, Jobs, Worker
from longmatch.web.limits import Limits
from longmatch.web.mapping.chart import Chart
from longmatch.web.pictures import PagePictures
from longmatch.web.problems import Problem, log, without_paths
from longmatch.web.rankers import Ranker, Rankers
from longmatch.web.schema import Described, Found, FoundSection, ModelName, Ranking, RankRequest, Same
from longmatch.web.uploads import Uploads

DEFAULT = "default"
OFFERED = {name: models()[name].summary for name in names_of("summary")}
P = ParamSpec("P")
T = TypeVar("T")

NO_READER = f"This server has no question reader. {INSTALL}"
HIGHLIGHTED = 5_000  # characters of a passage
GRIDS = 3  # kept: the levels of the comparison that is looked at


class ModelShelf:
    """The models a comparison may be asked of: a closed list, so that no request opens a folder or an address.

    Each is opened when it is first asked for, and kept. Used in the scoring thread only.
    """

    def __init__(self, library: Library, trained: Mapping[str, Path] | None = None) -> None:
        self._library, self._trained = library, dict(trained or {})
        self._open: dict[str, Matcher] = {}

    def names(self) -> list[ModelName]:
        """What may be asked for."""
        offered = OFFERED | dict.fromkeys(self._trained, "A trained model, named when the server was started.")
        return [ModelName(name=name, description=words) for name, words in offered.items()]

    def check(self, name: str) -> None:
        """Refuse a model that is not on the list."""
        if name not in OFFERED and name not in self._trained:
            names = ", ".join([*OFFERED, *self._trained])
            raise Problem(422, f"There is no model {name} here. Ask for one of {names}.")

    def get(self, name: str) -> Matcher:
        """The model of that name; all rules share the library's backbone."""
        self.check(name)
        if name not in self._open:
            from longmatch.models.loading import load

            if name == DEFAULT:
                self._open[name] = self._library.matcher
            elif name in self._trained:
                self._open[name] = load(self._trained[name])
                self._open[name].name = name  # not where it lies
            else:
                self._open[name] = load(name, self._library.matcher.backbone)
        return self._open[name]


class State:
    """One server's state. Methods that end in _now run in the scoring thread."""

    def __init__(
        self, library: Library, limits: Limits, trained: Mapping[str, Path] | None = None, writable: bool = False
    ) -> None:
        self.library, self.limits = library, limits
        self.worker = Worker(limits.waiting)
        self.rankers = Rankers(partial(ranker_of, library.address) if library.opens_by_address else None, limits)
        self.models = ModelShelf(library, trained)
        self.uploads = Uploads(limits)
        self.pictures = PagePictures(limits)
        self.jobs = Jobs(self.worker, limits.jobs, lambda sentence: without_paths(sentence, library))
        self.additions = Additions(library, limits, self.uploads, self.jobs) if writable else None
        self.catalogue = Catalogue(library)
        self.chart = Chart(library, self.catalogue)
        self.ready = False
        self.compared: LRUCache[tuple[Any, ...], Match] = LRUCache(limits.comparisons)
        self.grids: LRUCache[tuple[int, Level], tuple[Match, Grid]] = LRUCache(GRIDS)  # with its match: ids stay true

    async def work(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        """Run something in the scoring thread, off the event loop."""
        return await self.worker.ask(function, *arguments, **named)

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
        path = await asyncio.to_thread(self.library.files.unchanged, document)
        return await self.pictures.draw(path, member_of(id, document.source), id, page, passage)

    def unknown(self, id: str) -> Problem:
        """There is no such document."""
        if self.uploads.was_one(id):
            return Problem(404, "This upload is no longer held. Upload the document again.")
        return Problem(404, f"There is no document {id}. Look at the list of documents.")

    def may_add(self) -> Additions:
        """What adds documents; a Problem where the server may not."""
        if self.additions is None:
            sentence = "This server adds no documents. Start it with --writable: longmatch serve LIBRARY --writable."
            raise Problem(403, sentence)
        return self.additions

    def query_now(self, id: str, job: Job | None = None) -> str | Encoding:
        """The query for the library: one of its ids, or an upload's encoding, which is kept."""
        upload = self.uploads.get(id)
        if upload is None:
            return self.described(id).id
        self.library.refresh()  # another process may have left another model
        matcher, documents = self.library.matcher, [upload.document]
        if upload.encoding is None or upload.encoder is not matcher:
            [upload.encoding] = job.encode(matcher, documents) if job else matcher.encode(documents)
            upload.encoder = matcher
        return upload.encoding

    def rank_now(self, asked: RankRequest, job: Job | None = None) -> Ranking:
        """Rank, with progress if it is a job."""
        library = self.library
        query = self.query_now(asked.document, job)
        if asked.deep and not Reader.is_here():
            raise Problem(422, NO_READER)
        if job:
            job.begin("searching, then reading" if asked.deep else "searching")
        second = self.models.get(asked.rerank) if asked.rerank else None
        if second and job:
            job.begin(f"reading with {second.name}", min(max(asked.k, asked.depth), len(library)))
        hits = library.rank(
            query,
            asked.k,
            asked.where,
            asked.by,
            rerank=second,
            depth=asked.depth,
            combine=asked.combine,
            progress=job.advance if second and job else None,
            deep=asked.deep,
        )
        rows = self.catalogue.rows()
        described = self.described(asked.document)
        nothing = []
        if asked.where and not hits and not hits.same:
            nothing.append(none_matches(asked.where, absent_keys(library.store, asked.where)))
        return Ranking(
            query=described,
            by=asked.by if hits.ordered_by else asked.rerank or asked.by,
            documents=len(rows),
            remarks=library.store.model.language_remarks(described.language) + nothing + hits.remarks,
            same=[Same(**rows[one.id].model_dump(), relation=one.relation) for one in hits.same if one.id in rows],
            sections=[FoundSection.of_hit(hit, rows.get(hit.document.id)) for hit in hits.sections or ()],
            reader=hits.reader,
            deeper=bool(hits.sections) and not asked.deep and Reader.is_here(),
            hits=[Found.of_hit(hit, rows.get(hit.id)) for hit in hits],
        )

    def rank_as_job(self, asked: RankRequest) -> Job:
        """Begin a job; what can be seen to be wrong already is said at once."""
        self.described(asked.document)
        if asked.where:
            parse(asked.where)
        if asked.rerank:
            self.models.check(asked.rerank)

        def work(job: Job) -> Ranking:
            job.begin("encoding the document")
            return self.rank_now(asked, job)

        return self.jobs.start(work)

    async def comparison(self, a: str, b: str, model: str | None = None) -> Match:
        """Two documents compared, or the sections of one where both are the same; kept for a while."""
        name = model or DEFAULT
        self.models.check(name)
        return await self.work(self.compare_now, a, b, name)

    def compare_now(self, a: str, b: str, model: str) -> Match:
        """The same, in the scoring thread."""
        key = self.library.version, a, b, model
        if (match := self.compared.get(key)) is None:
            ids = list(dict.fromkeys((a, b)))
            if model == DEFAULT:
                queries = [self.query_now(id) for id in ids]
                match = self.library.within(*queries) if a == b else self.library.compare(*queries)
            else:
                matcher, documents = self.models.get(model), [self.document(id) for id in ids]
                match = matcher.within(*documents) if a == b else matcher.compare(*documents)
            self.compared[key] = match
        return match

    def grid_now(self, match: Match, level: Level) -> Grid:
        """A level of a comparison, if it is not too large to be sent."""
        key = id(match), level
        if key not in self.grids:
            self.grids[key] = match, match.at(level)
        grid = self.grids[key][1]
        if grid.scores.size > self.limits.cells:
            sizes = " x ".join(f"{n:,}" for n in grid.scores.shape)
            raise Problem(422, f"The grid of {level} has {sizes} cells. Ask for a coarser level: chunks or sections.")
        return grid

    def open(self) -> None:
        """Take questions; model and index are opened meanwhile, so that the first is as quick as the next."""

        def warm() -> None:
            encode_texts(self.library.matcher.backbone, ["It rained."])
            if len(self.library):
                self.library.vectors()
            self.ready = True

        def log_failure(warmed: "Future[None]") -> None:  # requests that need the model report it too
            error = None if warmed.cancelled() else warmed.exception()
            if error is not None:
                log.warning("%s", error)

        self.worker.open()
        if not self.ready:
            self.worker.begin(warm).add_done_callback(log_failure)

    def close(self) -> None:
        """End all jobs."""
        self.rankers.close()
        self.jobs.stop()
        self.worker.close()


def ranker_of(library: Library | str) -> Ranker:
    """What answers questions about the documents of a library, or of the one at an address, as JSON."""
    library = Library(library, create=False) if isinstance(library, str) else library
    state = State(library, Limits(rankers=1))
    if len(library):
        library.searcher().preload()
    return lambda asked: state.rank_now(asked).model_dump_json().encode()


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
