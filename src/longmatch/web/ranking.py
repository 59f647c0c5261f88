"""A ranking worked out in the scoring thread: at once, or as a job that says how far it is."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.encoders.backbone import Backbone
from longmatch.library.conditions import parse
from longmatch.render.wording import none_matches
from longmatch.web.jobs import Job
from longmatch.web.schema import Found, FoundSection, Ranking, RankRequest, Same
from longmatch.web.state import State


def rank_now(state: State, asked: RankRequest) -> Ranking:
    """Rank in one go."""
    return _ranking(state, asked, state.query_now(asked.document))


def rank_as_job(state: State, asked: RankRequest) -> Job:
    """Begin a job; what can be seen to be wrong already is said at once."""
    state.described(asked.document)
    if asked.where:
        parse(asked.where)
    if asked.rerank:
        state.models.check(asked.rerank)

    def work(job: Job) -> Ranking:
        job.begin("encoding the document")
        query = _query(state, asked.document, job)
        job.begin("searching")
        return _ranking(state, asked, query, job)

    return state.jobs.start(work)


def _ranking(state: State, asked: RankRequest, query: str | Encoding, job: Job | None = None) -> Ranking:
    library = state.library
    second = state.models.get(asked.rerank) if asked.rerank else None
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
    )
    rows = state.catalogue.rows()
    described = state.described(asked.document)
    where = asked.where
    nothing = [none_matches(where, library.absent_keys(where))] if where and not hits and not hits.same else []
    return Ranking(
        query=described,
        by=asked.by if hits.ordered_by else asked.rerank or asked.by,
        documents=len(rows),
        remarks=library.language_remarks(described.language) + nothing + hits.remarks,
        same=[Same(**rows[one.id].model_dump(), relation=one.relation) for one in hits.same if one.id in rows],
        sections=[FoundSection.of_hit(hit, rows.get(hit.document.id)) for hit in hits.sections or ()],
        hits=[Found.of_hit(hit, rows.get(hit.id)) for hit in hits],
    )


def _query(state: State, id: str, job: Job) -> str | Encoding:
    """As `State.query_now`, with progress while an upload is encoded."""
    upload = state.uploads.get(id)
    if upload is None:
        return state.query_now(id)
    matcher = state.matcher_now()
    if kept := upload.encoded_by(matcher):
        return kept
    watched = HybridMatcher(WatchedBackbone(matcher.backbone, job), matcher.statistics)
    return upload.keep(watched.encode([upload.document])[0], matcher)


class WatchedBackbone(Backbone):
    """A backbone that reports every batch to a job, and stops when the job is cancelled."""

    def __init__(self, backbone: Backbone, job: Job) -> None:
        self.__dict__.update(backbone.__dict__)
        self._job = job

    def encode(
        self, pieces: Sequence[npt.NDArray[np.int64]], progress: Callable[[int], None] | None = None
    ) -> npt.NDArray[Any]:
        """Encode, counting tokens where anybody wants to know, as of sentences."""
        if progress is None:
            return super().encode(pieces)
        self._job.begin("encoding the document", sum(len(piece) for piece in pieces))

        def on_tokens(tokens: int) -> None:
            self._job.advance(tokens)
            progress(tokens)

        return super().encode(pieces, on_tokens)
