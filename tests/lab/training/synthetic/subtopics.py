"""A made collection about two subtopics that have no word in common.

A match is two documents about both subtopics; any other pair is one about the one alone and one about the other. So
clusters are alike in matches, and distinct in other pairs, where they are the subtopics.
"""

import json
import random
from pathlib import Path

WORDS, EACH, SENTENCES, VALIDATION = 6, 20, 4, 6  # words of a subtopic; documents of a kind; sentences on a subtopic


def write_two_subtopics(folder: Path, words: list[str]) -> Path:
    """Documents about x and y (xy-0, xy-1, ...), about x twice as long (x-0, ...), about y (y-0, ...)."""
    drawn = random.Random(0)
    words = drawn.sample(words, 2 * WORDS)
    lists = {"x": words[:WORDS], "y": words[WORDS:]}

    def sentences(subtopic: str) -> str:
        rows = ([drawn.choice(lists[subtopic]) for _ in range(8)] for _ in range(SENTENCES))
        return " ".join(" ".join(row).capitalize() + "." for row in rows)

    folder.mkdir(parents=True)
    with (folder / "documents.jsonl").open("w") as file:
        for kind, about in (("xy", "xy"), ("x", "xx"), ("y", "yy")):
            for number in range(EACH):
                text = "\n\n".join(sentences(subtopic) for subtopic in about)
                file.write(json.dumps({"id": f"{kind}-{number}", "title": "", "text": text}) + "\n")
    rows = ["split\tsource\ttarget\tlabel"]
    for split, numbers in (("validation", range(VALIDATION)), ("train", range(VALIDATION, EACH))):
        rows += [f"{split}\txy-{i}\txy-{j}\t1" for i in numbers for j in numbers if i < j]
        rows += [f"{split}\tx-{i}\ty-{j}\t0" for i in numbers for j in numbers]
    (folder / "pairs.tsv").write_text("\n".join(rows) + "\n")
    return folder
