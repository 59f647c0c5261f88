"""A hash table of terms: finds those of one document in the running terms of many others."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from longmatch.lexical.terms import Flags, Ints, lookup

Keys = npt.NDArray[np.unsignedinteger]

BITS = (10, 20)  # of the slots' numbers, at least and at most
SPARSE = 32  # slots for each term, so that hardly any other term falls into a taken one


@dataclass(frozen=True)
class TermTable:
    """Distinct terms, sorted, each in the slot that its last bits name.

    Terms are hashes already, or positions in a sorted list of hashes, so one look at the slot tells nearly all foreign
    terms from the table's own; a search in the sorted terms takes ten times as long.
    """

    ids: Keys
    slots: npt.NDArray[np.int32]  # the position of a slot's term
    taken: Flags  # slots that hold a term: a small table, which is looked at first
    crowded: Ints  # positions of terms whose slot holds another

    @staticmethod
    def of(ids: Keys) -> "TermTable":
        """A table of these terms, which must be sorted."""
        bits = int(np.clip(np.ceil(np.log2(SPARSE * max(1, len(ids)))), *BITS))
        slots, taken = np.zeros(1 << bits, dtype=np.int32), np.zeros(1 << bits, dtype=bool)
        numbers = np.arange(len(ids))
        slot = _slot(ids, len(slots))
        slots[slot], taken[slot] = numbers, True
        return TermTable(ids, slots, taken, numbers[slots[slot] != numbers])

    def find(self, terms: Keys) -> tuple[Ints, Ints]:
        """Where in `terms` those of the table stand, in no particular order, and their positions in the table.

        >>> where, position = TermTable.of(np.array([2, 5, 9], np.uint64)).find(np.array([5, 6, 9], np.uint64))
        >>> where.tolist(), position.tolist()
        ([0, 2], [1, 2])
        """
        slot = _slot(terms, len(self.slots))
        where = np.flatnonzero(self.taken.take(slot))
        position = self.slots[slot[where]].astype(np.int64)
        same = self.ids[position] == terms[where]
        if not len(self.crowded):
            return where[same], position[same]
        others = where[~same]
        place, present = lookup(self.ids[self.crowded], terms[others])
        return (
            np.concatenate([where[same], others[present]]),
            np.concatenate([position[same], self.crowded[place[present]]]),
        )


def _slot(terms: Keys, slots: int) -> Ints:
    last_bits = terms & terms.dtype.type(slots - 1)
    return last_bits.view(np.int64) if last_bits.itemsize == 8 else last_bits.astype(np.int64)
