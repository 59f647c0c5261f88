"""The best of a library, read once more by a model that cannot be indexed."""

from collections.abc import Sequence
from dataclasses import replace

from longmatch.documents.document import Document
from longmatch.library.asking import Answer
from longmatch.library.errors import LibraryError
from longmatch.matching.matcher import Matcher, Progress
from longmatch.matching.reranking import rerank


def rerank_answers(
    answers: Sequence[Answer], query: Document, matcher: Matcher, k: int, total: int, progress: Progress | None
) -> list[Answer]:
    """The k best by the model's own score; what explains them stays the first stage's."""
    documents = [answer.encoding.document for answer in answers]
    for document in (query, *documents):
        if not document.text.strip():
            raise LibraryError(
                f"The library holds no text of {document.id}, so {matcher.name} cannot read it. "
                "Remove it and index its file again, or rank without a second model."
            )
    found = rerank(matcher, query, documents, k, total, progress)
    return [replace(answers[one.place], score=one.score, percentile=one.percentile) for one in found]
