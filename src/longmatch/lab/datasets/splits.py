"""The split of a document, determined by its id alone, so that it is the same on every machine."""

from dataclasses import dataclass
from hashlib import sha256

from longmatch.lab.datasets.records import Split


def residue(id: str) -> int:
    """A number from 0 to 99 hashed from the id.

    >>> residue("PEP1"), residue("PEP8")
    (46, 13)
    """
    return int.from_bytes(sha256(f"longmatch:{id}".encode()).digest(), "big") % 100


@dataclass(frozen=True, slots=True)
class SplitRule:
    """Percentages: residues below `test` are test, the next `validation` are validation, the rest train."""

    test: int = 25
    validation: int = 10

    def of(self, id: str) -> Split:
        """The split of a document or query.

        >>> SplitRule().of("PEP8"), SplitRule(test=10, validation=10).of("PEP8")
        ('test', 'validation')
        """
        percentile = residue(id)
        if percentile < self.test:
            return "test"
        return "validation" if percentile < self.test + self.validation else "train"

    def of_pair(self, source: str, target: str) -> Split:
        """Test if either document is, else validation if either is: training never sees a test document."""
        both = {self.of(source), self.of(target)}
        if "test" in both:
            return "test"
        return "validation" if "validation" in both else "train"


DEFAULT = SplitRule()
LEGAL = SplitRule(test=50, validation=10)
LEGAL_ZH = SplitRule(test=60, validation=10)
NEWS = SplitRule(test=35, validation=15)
PAPERS = SplitRule(test=10, validation=10)
"""The 80/10/10 of CoLDE section 4.1.2 and SMITH table 4, over documents instead of pairs."""
