"""How two versions of a text differ, section by section and word by word: added, removed, moved."""

from dataclasses import dataclass

from longmatch.documents.document import Document
from longmatch.reuse.copies import stated_title
from longmatch.reuse.fates import Fates
from longmatch.reuse.section_groups import joined_groups, matched_groups
from longmatch.reuse.section_table import Count, SectionChange, section_table
from longmatch.reuse.table_changes import TableChange, table_changes
from longmatch.reuse.version import Version
from longmatch.reuse.weaving import RevisedBlock, woven
from longmatch.reuse.words import Vocabulary


@dataclass(frozen=True)
class Revision:
    """The second of two versions, with what was removed from the first."""

    blocks: tuple[RevisedBlock, ...]
    sections: tuple[SectionChange, ...]  # of the second version, with the removed ones where they stood
    tables: tuple[TableChange, ...] = ()
    titles: tuple[str, str] | None = None  # where they differ and stand beside the text

    def words(self, name: Count) -> int:
        """The number of words that are the same, were added, removed or moved."""
        return sum(getattr(section, name) for section in self.sections)


def revise(a: Document, b: Document) -> Revision:
    """How b, the later version, differs from a."""
    vocabulary = Vocabulary()
    first, second = Version.of(a, vocabulary), Version.of(b, vocabulary)
    groups = matched_groups(first, second)
    fates = Fates.of(first, second, groups)
    joined = joined_groups(first, second, fates.groups, fates.a_partner)
    if joined != groups:
        fates = Fates.of(first, second, joined)
    sections, tables = section_table(first, second, fates), table_changes(first, second, fates)
    titles = (a.title, b.title) if stated_title(a, b) != stated_title(b, a) else None
    return Revision(woven(first.units, second.units, fates), sections, tables, titles)
