"""What `longmatch rank` found, and the ways to print it."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from longmatch.cli.library import Unreadable
from longmatch.cli.output import writing
from longmatch.documents.document import Document

if TYPE_CHECKING:
    from longmatch.matching.hits import Hits

STANDARD_OUTPUT = "-"


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
        from longmatch.matching.render.terminal import print_ranking

        print_ranking(self.hits, Console(), self.hits.remarks)

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
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))

    def write_csv(self, file: str) -> None:
        """Write a table to a file, or to standard output."""
        if file == STANDARD_OUTPUT:
            self.hits.to_csv(sys.stdout)
            return
        with writing(Path(file)), Path(file).open("w", encoding="utf-8", errors="replace", newline="") as table:
            self.hits.to_csv(table)
