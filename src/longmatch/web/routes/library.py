"""What the server is and holds."""

from importlib.metadata import version

from fastapi import APIRouter

from longmatch.documents.formats import upload_suffixes
from longmatch.web.problems import name_of
from longmatch.web.schema import Health, LibraryFacts, Models
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
        writable=state.added is not None,
    )


@router.get("/models")
def models(state: TheState) -> Models:
    """The models that may be asked for in a comparison."""
    return Models(models=state.models.names())
