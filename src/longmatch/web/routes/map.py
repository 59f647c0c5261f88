"""The library in two dimensions."""

import asyncio

from fastapi import APIRouter

from longmatch.web.mapping.layout import Floats
from longmatch.web.routes.common import mistakes
from longmatch.web.schema import Map
from longmatch.web.state import State, TheState

router = APIRouter(tags=["library"])


@router.get("/map", responses=mistakes(429, 503))
async def library_map(state: TheState) -> Map:
    """Where the documents lie: those that are alike are near, and clusters are labelled by their heaviest words.

    It is worked out once for each state of the library, in seconds; of more than 5,000 documents a sample is shown.
    """
    kept = await asyncio.to_thread(state.chart.kept)
    if kept is not None:
        return kept
    version, ids, vectors = await state.work(_vectors, state)
    return await asyncio.to_thread(state.chart.draw, version, ids, vectors)


def _vectors(state: State) -> tuple[int, list[str], Floats]:
    version = state.library.version
    return version, *state.library.vectors()
