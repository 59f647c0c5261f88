"""A made collection with topics that nobody has to guess: each has words of its own, and all share common ones."""

import random

from longmatch.documents import Document, read_text_string

TOPICS, EACH = 4, 15


def made_documents(each: int = EACH, seed: int = 0) -> list[Document]:
    """Documents in which half of the words are of their topic; document i is of topic i % TOPICS."""
    drawn = random.Random(seed)
    own = [[f"{letter}{number}ar" for number in range(12)] for letter in "bdgk"]
    common = [f"und{number}" for number in range(30)]

    def sentence(topic: int) -> str:
        words = [drawn.choice(own[topic] if drawn.random() < 0.5 else common) for _ in range(10)]
        return " ".join(words).capitalize() + "."

    def document(number: int) -> Document:
        topic = number % TOPICS
        text = "\n\n".join(" ".join(sentence(topic) for _ in range(4)) for _ in range(3))
        return read_text_string(text, f"{number:03d}")

    return [document(number) for number in range(TOPICS * each)]
