"""Which documents of the library belong with one."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from longmatch.web.routes.common import Document, mistakes
from longmatch.web.schema import By, JobStanding, JobStarted, Ranking, RankRequest
from longmatch.web.state import TheState

router = APIRouter(tags=["rank"])

Job = Annotated[str, Path(pattern=r"^j-[0-9a-f]{16}$", description="The id that starting it gave.")]


@router.get("/rank", response_model=Ranking, responses=mistakes(404, 422, 429, 503))
async def rank(
    state: TheState,
    document: Document,
    k: Annotated[int, Query(ge=1, le=200, description="How many documents to name.")] = 10,
    where: Annotated[
        str | None, Query(max_length=500, description="A condition as in SQL.", examples=["words > 1000"])
    ] = None,
    by: Annotated[By, Query(description="The score.")] = "default",
) -> Any:
    """The documents that belong most with one, best first, with the passages that say why."""
    asked = RankRequest(document=document, k=k, where=where, by=by)
    if state.rankers.ready and by == "default" and state.uploads.get(document) is None:
        return Response(await state.rankers.rank(asked), media_type="application/json")
    if state.worker.busy:
        state.rankers.start()
    return await state.work(state.rank_now, asked)


@router.post("/rank", status_code=202, responses=mistakes(400, 404, 408, 413, 422, 429, 503))
async def start(state: TheState, asked: RankRequest) -> JobStarted:
    """The same as a job, whose progress can be looked at: for uploads, and for reading again with another model."""
    return JobStarted(job=state.rank_as_job(asked).id)


@router.get("/jobs/{job}", responses=mistakes(404, 422))
async def look(state: TheState, job: Job) -> JobStanding:
    """How far a job has come, and its result once it is done."""
    return state.jobs.get(job).standing()


@router.delete("/jobs/{job}", status_code=204, responses=mistakes(404, 422))
async def cancel(state: TheState, job: Job) -> Response:
    """Stop a job."""
    state.jobs.get(job).cancel()
    return Response(status_code=204)
