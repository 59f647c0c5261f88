"""A container that nobody ships: texts with a line of dashes between them. One that says "die" ends its reader."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longmatch.documents import Draft
from longmatch.documents.containers import Found, Member
from longmatch.documents.formats import Container
from longmatch.errors import ReadError

STACK = Container((".stack",), __name__, "stack_members")


@dataclass(frozen=True)
class Part(Member):
    """One of the texts."""

    text: str = ""

    def documents(self, id: str) -> Iterator[Found]:
        if self.text == "die":
            os._exit(1)
        if not self.text:
            raise ReadError(self.address, "is empty", "Leave it out.")
        draft = Draft(remarks=[f"{self.address}: read."])
        draft.paragraph(self.text)
        yield draft.document(f"{id}#{self.name}", source=str(self.path))

    @property
    def may_crash(self) -> bool:
        return self.text == "die"


def stack_members(path: Path) -> Iterator[Member]:
    for number, text in enumerate(path.read_text().split("\n---\n"), 1):
        yield Part(path, str(number), len(text), text)
