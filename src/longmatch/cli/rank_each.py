"""`longmatch rank --each`: the documents that belong with each of many."""

from pathlib import Path
from typing import TYPE_CHECKING

from longmatch.cli.library import SEARCH_MODELS, open_library
from longmatch.cli.printing import echo_json, warn
from longmatch.cli.progress import progress
from longmatch.errors import LongmatchError

if TYPE_CHECKING:
    from longmatch.distributed.indexing import RayBackend
    from longmatch.library.library import By


def rank_each(queries: Path, folder: str, k: int, where: str | None, model: str, backend: "RayBackend | None") -> None:
    """Print one line of JSON per query, in order; files that cannot be read are named and skipped."""
    from longmatch.documents.read import read_all

    library, _ = open_library(folder) if model in SEARCH_MODELS else (None, [])
    if library is None:
        raise LongmatchError(
            f"--each searches a library, with the models {' and '.join(SEARCH_MODELS)}. Make one: longmatch index."
        )
    by: By = "sdr" if model == "sdr" else "default"
    documents = read_all([queries], warn)
    if backend:
        from longmatch.distributed.ranking import RankOptions, rank_on_ray

        answers = rank_on_ray(library.address, documents, RankOptions(k, where, by), backend)
    else:
        answers = library.rank_many(documents, k, where, by)
    with progress("ranking") as report:
        for query, hits in answers:
            facts = {"id": query.id, "title": query.title, "words": query.words}
            answer = {
                "query": facts,
                "remarks": library.language_remarks(query.language) + hits.remarks,
                "same": [one.to_dict() for one in hits.same],
                "hits": [hit.to_dict() for hit in hits],
            }
            echo_json(answer, None)
            report(1)
