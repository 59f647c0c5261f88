"""What the server is and holds."""

import asyncio
from importlib.metadata import version

from fastapi import APIRouter

from longmatch.documents.formats import upload_suffixes
from longmatch.web.problems import name_of
from longmatch.web.routes.common import mistakes
from longmatch.web.schema import Health, LibraryFacts, Map, Models
from longmatch.web.state import TheState

router = APIRouter(tags=["library"])


@router.get("/health")
def health(state: TheState) -> Health:
    """Whether the server answers. It does while questions are worked on."""
    return Health(version=version("longmatch"), documents=len(state.library), ready=state.ready)


@router.get("/library")
def library(state: TheState) -> LibraryFacts:
    """How much the library holds, what made it, and what may be uploaded."""
    facts = state.library.summary()
    limits = state.limits
    return LibraryFacts(
        name=name_of(state.library),
        schema_number=facts.pop("schema"),
        **facts,
        uploads={"bytes": limits.upload_bytes, "words": limits.upload_words},
        formats=list(upload_suffixes()),
        writable=state.additions is not None,
    )


@router.get("/models")
def models(state: TheState) -> Models:
    """The models that may be asked for in a comparison."""
    return Models(models=state.models.names())


@router.get("/map", responses=mistakes(429, 503))
async def library_map(state: TheState) -> Map:
    """Where the documents lie: those that are alike are near, and clusters are labelled by their heaviest words.

    It is worked out once for each state of the library, in seconds; of more than 5,000 documents a sample is shown.
    """
    kept = await asyncio.to_thread(state.chart.kept)
    if kept is not None:
        return kept
    version, (ids, vectors) = await state.work(lambda: (state.library.version, state.library.vectors()))
    return await asyncio.to_thread(state.chart.draw, version, ids, vectors)
