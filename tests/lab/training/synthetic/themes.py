"""A made collection of many short documents: most words of each are of its theme, and labelled pairs of them."""

import json
import random
from pathlib import Path

THEMES = 16


def write_themes(folder: Path, words: list[str], documents: int, theme_share: float = 0.7) -> Path:
    """Documents of three paragraphs, four sentences each; pairs of one theme and of two, a quarter for validation."""
    rng = random.Random(0)
    themes = [rng.sample(words, 12) for _ in range(THEMES)]

    def sentence(own: list[str]) -> str:
        return " ".join(rng.choice(own if rng.random() < theme_share else words) for _ in range(6)).capitalize() + "."

    folder.mkdir(parents=True)
    with (folder / "documents.jsonl").open("w") as file:
        for number in range(documents):
            own = themes[number % THEMES]
            text = "\n\n".join(" ".join(sentence(own) for _ in range(4)) for _ in range(3))
            file.write(json.dumps({"id": f"d{number}", "title": "", "text": text}) + "\n")
    rows = ["split\tsource\ttarget\tlabel"]
    for number in range(documents):
        split = "train" if number // THEMES % 4 else "validation"
        for far, near in ((THEMES, 5), (5 * THEMES, 7 * THEMES + 3), (9 * THEMES, 3 * THEMES + 10)):
            rows.append(f"{split}\td{number}\td{(number + far) % documents}\t1")
            rows.append(f"{split}\td{number}\td{(number + near) % documents}\t0")
    (folder / "pairs.tsv").write_text("\n".join(rows) + "\n")
    return folder
