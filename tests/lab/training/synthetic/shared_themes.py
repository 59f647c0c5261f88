"""A made collection where both documents of every pair share their words, and which words tell whether they belong.

How much is shared tells nothing, so an untrained model guesses: half of the themes are those of documents that belong
together, and only training says which half.
"""

import json
import random
from pathlib import Path

THEMES, WORDS, EACH, VALIDATION = 16, 5, 10, 4


def write_shared_themes(folder: Path, words: list[str]) -> Path:
    """Documents of four sentences. A pair is always two documents of one theme; of even themes they belong together."""
    drawn = random.Random(0)
    words = drawn.sample(words, THEMES * WORDS)
    themes = [words[first : first + WORDS] for first in range(0, len(words), WORDS)]

    def sentence(theme: int) -> str:
        return " ".join(drawn.choice(themes[theme]) for _ in range(6)).capitalize() + "."

    folder.mkdir(parents=True)
    with (folder / "documents.jsonl").open("w") as file:
        for theme in range(THEMES):
            for number in range(EACH):
                text = " ".join(sentence(theme) for _ in range(4))
                file.write(json.dumps({"id": f"t{theme}-{number}", "title": "", "text": text}) + "\n")
    rows = ["split\tsource\ttarget\tlabel"]
    for theme in range(THEMES):
        for split, first, last in (("validation", 0, VALIDATION), ("train", VALIDATION, EACH)):
            for a in range(first, last):
                rows += [f"{split}\tt{theme}-{a}\tt{theme}-{b}\t{int(theme % 2 == 0)}" for b in range(a + 1, last)]
    (folder / "pairs.tsv").write_text("\n".join(rows) + "\n")
    return folder
