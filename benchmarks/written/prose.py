"""Prose without meaning but with the shape of real text: sentences of varying length, the same for the same seed."""

from random import Random

_SUBJECTS = (
    "the supplier", "the carrier", "the harbour office", "each of the parties", "the surveyor", "a second witness",
    "the engine of the older type", "the company that kept the line", "the registrar", "no one at the works",
    "the report of the inspectors", "the owner of the land", "the driver", "a clerk at the station", "the tribunal",
)  # fmt: skip
_VERBS = (
    "had agreed to pay for", "was bound to keep", "did not dispute", "set out in detail", "relied upon", "had repaired",
    "could not account for", "took the greatest care of", "was asked about", "gave notice of", "measured", "had seen",
)  # fmt: skip
_OBJECTS = (
    "the goods that were stored at the quay", "the boiler and its fittings", "the cost of the second crossing",
    "the terms of the earlier lease", "the damage to the northern wall", "every delivery made in that winter",
    "the letters which passed between them", "the weight on the leading wheels", "the evidence of the engineer",
    "the sums that remained unpaid", "the timetable of the coast line", "the drawings kept in the office",
)  # fmt: skip
_ENDINGS = (
    "", "before the end of the month", "although nothing in writing required it", "as the records of the year show",
    "when the water had fallen again", "without asking what it would mean for the others", "at its own expense",
    "and nobody objected at the time", "as far as the documents allow us to say", "on the day after the storm",
)  # fmt: skip


class Prose:
    """Sentences and paragraphs, drawn one after the other."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def sentence(self) -> str:
        """One sentence of 8 to 25 words."""
        parts = [self._random.choice(choices) for choices in (_SUBJECTS, _VERBS, _OBJECTS, _ENDINGS)]
        text = " ".join(filter(None, parts))
        return f"{text[0].upper()}{text[1:]}."

    def paragraph(self, words: int = 90) -> str:
        """Sentences of about `words` words in all."""
        sentences = [self.sentence()]
        while sum(len(sentence.split()) for sentence in sentences) < words:
            sentences.append(self.sentence())
        return " ".join(sentences)
