"""A made collection whose themes have two wordings with no word in common: what belongs together must be learnt.

Untrained, any model guesses; trained, it must know that the two wordings of a theme mean one thing. The gap between the
two is so wide that no seed and no machine closes it.
"""

import json
import random
from pathlib import Path

THEMES, WORDS, EACH, VALIDATION = 8, 6, 16, 5


def write_two_wordings(folder: Path, words: list[str], themes: int = THEMES) -> Path:
    """Documents of two paragraphs, three sentences each. A pair is always one document of either wording."""
    drawn = random.Random(0)
    words = drawn.sample(words, 2 * themes * WORDS)
    wordings = [words[first : first + WORDS] for first in range(0, len(words), WORDS)]

    def sentence(wording: int) -> str:
        return " ".join(drawn.choice(wordings[wording]) for _ in range(8)).capitalize() + "."

    folder.mkdir(parents=True)
    with (folder / "documents.jsonl").open("w") as file:
        for wording in range(2 * themes):
            for number in range(EACH):
                text = "\n\n".join(" ".join(sentence(wording) for _ in range(3)) for _ in range(2))
                file.write(json.dumps({"id": name_of(wording, number), "title": "", "text": text}) + "\n")
    rows = ["split\tsource\ttarget\tlabel"]
    for theme in range(themes):
        for number in range(EACH):
            split, low, high = ("validation", 0, VALIDATION) if number < VALIDATION else ("train", VALIDATION, EACH)
            for other in range(low, high):
                apart = (theme + drawn.randrange(1, themes)) % themes
                rows.append(f"{split}\t{name_of(theme, number)}\t{name_of(themes + theme, other)}\t1")
                rows.append(f"{split}\t{name_of(theme, number)}\t{name_of(themes + apart, other)}\t0")
    (folder / "pairs.tsv").write_text("\n".join(rows) + "\n")
    return folder


def name_of(wording: int, number: int) -> str:
    """A document's id; of so many themes, wordings w and themes + w are of one."""
    return f"w{wording}-{number}"
