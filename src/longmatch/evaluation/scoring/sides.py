"""The sides of the default's score by themselves, for choosing and learning how they are weighed."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from longmatch.documents.language import words_of
from longmatch.encoders.ragged import segment_mean
from longmatch.evaluation.corpus import Corpus
from longmatch.evaluation.encodings.store import Stored
from longmatch.evaluation.measures.answers import Floats
from longmatch.evaluation.scoring.default import DefaultScorer
from longmatch.matching.calibration import Calibration
from longmatch.models.hybrid.collection import Collection
from longmatch.models.hybrid.encoding import Encoding
from longmatch.models.lexical.terms import Counts, hash_word
from longmatch.models.lexical.weights import TermMatrix, Weighted, tfidf

QUERIES = 16  # whose sides are held at a time

Sides = dict[str, Floats]


class SideScorer(DefaultScorer):
    """Of each query the similarity with every document, side by side: those of the default, and some it might have.

    - words, phrases, meaning: as the default takes them; `lengths` are the documents' words;
    - topic: the cosine of the documents' mean sentence vectors;
    - title, titled: the cosine of a document's title with the query's words, and of the query's title with its words.
    """

    def open(self, stored: Sequence[Stored], corpus: Corpus) -> None:
        """Weigh the titles too, by the words of the whole corpus."""
        super().open(stored, corpus)
        titles = {record.id: record.title for record in corpus.folder.records()}
        self._titles = [self._weighed(titles.get(id, "")) for id in corpus.ids]
        self._in_slices = [TermMatrix.of(self._titles[part.first : part.last]) for part in self._slices]

    @property
    def calibration(self) -> Calibration:
        """How the default weighs the sides in the language of this corpus."""
        return self._rarity.calibration(self.matcher.statistics)

    def sides(self, numbers: Sequence[int]) -> Iterator[tuple[int, Sides]]:
        """For some documents, by their numbers: by side, the value with every document of the corpus."""
        able = [number for number in numbers if number not in self.unhandled]
        for start in range(0, len(able), QUERIES):
            block = able[start : start + QUERIES]
            queries = [self._query(number) for number in block]
            found: list[list[Sides]] = [[] for _ in block]
            for index in range(len(self._slices)):
                collection, means = self._collection(index), self._means(index)
                for number, query, parts in zip(block, queries, found, strict=True):
                    parts.append(self._of(number, query, collection, index, means))
            for number, parts in zip(block, found, strict=True):
                yield number, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def _of(self, number: int, query: Encoding, collection: Collection, index: int, means: torch.Tensor) -> Sides:
        words = tfidf(query.terms.words.counts, self._rarity.words)
        mean = torch.nn.functional.normalize(query.side.vectors.mean(0), dim=0)
        return {
            **collection.sides(query),
            "topic": (means @ mean).double().cpu().numpy(),
            "title": self._in_slices[index].scores(words),
            "titled": collection.words.scores(self._titles[number]),
            "lengths": np.array([e.words for e in collection.encodings], dtype=np.float64),
        }

    def _means(self, index: int) -> torch.Tensor:
        collection = self._collection(index)
        return torch.nn.functional.normalize(segment_mean(collection.sentences.vectors, collection.offsets), dim=1)

    def _weighed(self, title: str) -> Weighted:
        hashes = np.array([hash_word(word) for word in words_of(title)], dtype=np.uint64)
        return tfidf(Counts.of(hashes), self._rarity.words)
