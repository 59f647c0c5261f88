"""What `longmatch rank` found, and the ways to print it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longmatch.cli.library import Unreadable
from longmatch.cli.output import opened_output
from longmatch.cli.printing import Terminal, echo_json
from longmatch.documents.document import Document

if TYPE_CHECKING:
    from longmatch.matching.hits import Hits


@dataclass(frozen=True)
class Answer:
    """The hits for one query, and what was searched."""

    query: Document
    hits: "Hits"
    documents: int  # searched
    model: str
    unreadable: Unreadable

    def print_text(self) -> None:
        """Print for people."""
        from longmatch.render.terminal import print_ranking

        print_ranking(self.hits, Terminal())

    def print_json(self, rerank: str | None, combined: bool = False, remarks: Sequence[str] = ()) -> None:
        """Print for programs; `rerank` is the model that read the best results, `combined` whether both ranks count."""
        found = {
            "query": {"id": self.query.id, "title": self.query.title, "words": self.query.words},
            "model": self.model,
            **({"rerank": rerank, "combined": combined} if rerank else {}),
            "documents": self.documents,
            "remarks": [*remarks, *self.hits.remarks],
            "unreadable": [{"file": file, "problem": problem} for file, problem in self.unreadable],
            "same": [one.to_dict() for one in self.hits.same],
            "hits": [hit.to_dict() for hit in self.hits],
        }
        echo_json(found)

    def write_csv(self, file: str) -> None:
        """Write a table to a file, or to standard output."""
        with opened_output(file) as table:
            self.hits.to_csv(table)
