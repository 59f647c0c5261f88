"""Everything a recipe learns from, opened from what the user names."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from tokenizers import Tokenizer

from longmatch.errors import LongmatchError
from longmatch.lab.datasets.records import SPLITS, Split
from longmatch.lab.datasets.splits import residue
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.candidates import Candidates
from longmatch.lab.training.data.classes import ClassTable, own_classes, pairs_of_classes, stated_classes
from longmatch.lab.training.data.labels import Numbered, PairTable, Which, number_pairs, pair_keys, without_later_splits
from longmatch.lab.training.data.negatives import Negatives
from longmatch.lab.training.data.sources import Source, document_source, find_sources
from longmatch.lab.training.data.tables import Classes, Pairs, read_labels
from longmatch.matching.matcher import Progress
from longmatch.units.tokens import Ints

HELD_OUT = 5  # of a hundred documents, where they are read without labels
NONE = np.zeros(0, dtype=np.int64)


class TrainingData:
    """The tokens of documents, and what is known about them. Documents go by their number among the tokens.

    Training sees no pair that validation or test label, and no pair with one of their queries.
    """

    def __init__(
        self,
        tokens: TokenCollection,
        sources: Sequence[Source],
        labels: Sequence[Sequence[Pairs | Classes]],
        seed: int = 0,
        negatives: Literal["random", "near"] = "random",
        reachable: bool = False,
    ) -> None:
        self.tokens, self.sources, self.seed = tokens, tuple(sources), seed
        home = np.array([_home(id, sources) for id in tokens.ids], dtype=np.int64)
        self._of = [np.flatnonzero(home == number) for number in range(len(sources))]  # each source's documents
        self._ids = [id.removeprefix(sources[at].prefix) for id, at in zip(tokens.ids, home.tolist(), strict=True)]
        self._negatives = Negatives(negatives, tokens, self._ids, seed, reachable)
        self._tables: list[list[Numbered]] = []  # of each source
        classes: list[tuple[int, int, str]] = []
        for source, documents, given in zip(sources, self._of, labels, strict=True):
            pairs = [number_pairs(table, tokens, source.prefix) for table in given if isinstance(table, Pairs)]
            self._tables.append(without_later_splits(pairs))
            stated = [table for table in given if isinstance(table, Classes)]
            for table in stated:
                classes += stated_classes(table, tokens, source.prefix)
            classes += [] if stated else own_classes(documents, tokens, self._ids)
        self._classes = ClassTable.of_rows(classes)
        self._pairs: dict[Split, PairTable] = {}

    @classmethod
    def open(
        cls,
        paths: str | Path | Iterable[str | Path],
        tokenizer: Tokenizer,
        cache: Path,
        processes: int | None = None,
        seed: int = 0,
        progress: Progress | None = None,
        negatives: Literal["random", "near"] = "random",
        reachable: bool = False,
    ) -> "TrainingData":
        """Open data folders, JSON Lines files, folders of documents, and .tsv files that label them.

        The documents are tokenised into a store in `cache`, unless they are there already, by `processes` processes (by
        default the number set by `use_processes`).
        """
        sources = find_sources([paths] if isinstance(paths, str | Path) else paths)
        labels = [[read_labels(path) for path in source.labels] for source in sources]
        tokens = TokenCollection.build(cache, document_source(sources), tokenizer, progress, processes)
        if not len(tokens):
            why = f" {next(iter(tokens.unreadable.values())).why}" if tokens.unreadable else ""
            raise LongmatchError(f"{_list(s.path for s in sources)} holds no documents that can be read.{why}")
        return cls(tokens, sources, labels, seed, negatives, reachable)

    @property
    def has_pairs(self) -> bool:
        """Whether pairs, judgements or links are given."""
        return any(self._tables)

    @property
    def has_classes(self) -> bool:
        """Whether documents have classes."""
        return len(self._classes) > 0

    def pairs(self, split: Split) -> PairTable:
        """The labelled pairs of a split, matches and others; of classes alone, pairs of one class and of two.

        Where only matches are given, random documents are the others, or `near` ones; with `reachable`, training and
        validation hold no match that a first stage does not find. Only test may be empty.
        """
        if not self.has_pairs and not self.has_classes:
            raise LongmatchError(
                f"{self._where} says of no documents that they belong together. Add pairs.tsv (split, source, target, "
                "label), qrels.tsv, links.tsv or classes.tsv, or train a model that learns from documents alone."
            )
        found = self._all_pairs(split)
        if split == "test":
            return found
        if not len(found):
            raise LongmatchError(self._empty(split))
        if len(np.unique(found.label)) == 1 and not self.has_pairs and found.label[0]:
            name = self._classes.names[self._classes.of(split)[1][0]]
            raise LongmatchError(
                f"{self._where} has only one class in the {split} split, {name!r}. Add documents of another."
            )
        if len(np.unique(found.label)) == 1:
            kind, missing = ("belong", "do not") if found.label[0] else ("do not belong", "do")
            raise LongmatchError(
                f"{self._where} has only pairs that {kind} together in the {split} split (label {found.label[0]}). "
                f"Add some that {missing}; without a column label, random documents are taken as non-matches."
            )
        return found

    def _all_pairs(self, split: Split) -> PairTable:
        if split not in self._pairs:
            if self.has_pairs:
                found = PairTable.join([self._source_pairs(number, split) for number in range(len(self.sources))])
            else:
                seed = self.seed if split == "train" else 0
                found = pairs_of_classes(*self._classes.of(split), self._ids, seed)
            self._pairs[split] = found
        return self._pairs[split]

    def _source_pairs(self, number: int, split: Split) -> PairTable:
        """Pairs as they are labelled; judgements only where there are no pairs."""
        tables = self._tables[number]
        candidates = Candidates.read(self.sources[number], self._of[number], self.tokens)
        main = [rows for rows in tables if not rows.table.judged] or tables
        return PairTable.join([self._negatives.added(rows, split, tables, candidates) for rows in main])

    @cached_property
    def positives(self) -> Ints:
        """All matches that training may know, from every table: (links, 2), the smaller number first, none twice."""
        matches = [rows.of("train") for rows in self._each_table()] or [self._all_pairs("train")]
        kept = [np.stack([m.source, m.target], axis=1)[m.label == 1] for m in matches]
        return np.unique(np.sort(np.concatenate(kept), axis=1), axis=0)

    def related(self, numbers: Ints) -> Which:
        """Which of these documents belong together as far as training may know: (documents, documents)."""
        keys = pair_keys(numbers[:, None], numbers, len(self.tokens))
        own = self._class_of[numbers]
        known: Which = self._match_keys[np.searchsorted(self._match_keys, keys)] == keys
        known |= (own[:, None] == own) & (own >= 0)
        known |= numbers[:, None] == numbers
        return known

    @cached_property
    def _match_keys(self) -> Ints:
        """Of all matches, sorted; a key larger than all at the end."""
        keys = pair_keys(self.positives[:, 0], self.positives[:, 1], len(self.tokens))
        return np.append(keys, np.iinfo(np.int64).max)

    @cached_property
    def _class_of(self) -> Ints:
        """Of each document the class that training may know, or -1."""
        found = np.full(len(self.tokens), -1, dtype=np.int64)
        documents, labels = self._classes.of("train")
        found[documents] = labels
        return found

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes, in the order of their numbers."""
        return self._classes.names

    def classes(self, split: Split) -> tuple[Ints, Ints] | None:
        """The documents of a split that have a class, and its number; None where no document has. Test may be empty."""
        if not self.has_classes:
            return None
        documents, labels = self._classes.of(split)
        if split != "test" and not len(documents):
            raise LongmatchError(self._empty(split))
        if split != "test" and len(np.unique(labels)) == 1:
            only = self.class_names[labels[0]]
            raise LongmatchError(f"{self._where} has only the class {only!r} in the {split} split. Add another.")
        return documents, labels

    def documents(self, split: Split) -> Ints:
        """What may be read without labels: all documents but a held-out twentieth, by their ids, which is validation.

        The splits of labels play no part: documents of validation and test pairs are read too (`facts` says so).
        """
        held = self._held_out
        if held.all():
            raise LongmatchError(f"{self._where} holds too few documents to keep one for validation. Add some.")
        return {"train": np.flatnonzero(~held), "validation": np.flatnonzero(held), "test": NONE}[split]

    @cached_property
    def _held_out(self) -> Which:
        drawn = np.array([residue(f"held out:{id}") for id in self._ids])
        held: Which = drawn < max(HELD_OUT, int(drawn.min()) + 1)  # one at least
        return held

    def labelled(self, split: Split) -> Ints:
        """The documents that the labels of a split name."""
        rows = [rows.of(split) for rows in self._each_table()]
        named = (numbers for one in rows for numbers in (one.source, one.target))
        return np.unique(np.concatenate([NONE, self._classes.of(split)[0], *named]))

    @property
    def facts(self) -> dict[str, Any]:
        """For a model's card: how much of what there is, and what is read of it without labels."""
        labels = {split: self._all_pairs(split).label for split in SPLITS}
        return {
            "sources": [
                {"name": source.name, "documents": len(documents), "labels": [path.name for path in source.labels]}
                for source, documents in zip(self.sources, self._of, strict=True)
            ],
            "documents": len(self.tokens),
            "unreadable": len(self.tokens.unreadable),
            "tokens": int(self.tokens.lengths.sum()),
            "pairs": {s: {"matches": int(v.sum()), "others": int((1 - v).sum())} for s, v in labels.items()},
            "classes": len(self.class_names),
            "without_labels": self._facts_without_labels,
        }

    @property
    def _facts_without_labels(self) -> dict[str, int]:
        held = self._held_out
        later = np.union1d(self.labelled("validation"), self.labelled("test"))
        return {
            "train": int((~held).sum()),
            "validation": int(held.sum()),
            "train_documents_that_validation_or_test_labels_name": int((~held[later]).sum()),
        }

    def _each_table(self) -> list[Numbered]:
        return [rows for tables in self._tables for rows in tables]

    @property
    def _where(self) -> str:
        """The files that label, else what was named."""
        labels = [path for source in self.sources for path in source.labels]
        return _list(labels or [source.path for source in self.sources])

    def _empty(self, split: Split) -> str:
        return f"{self._where} has no labels in the {split} split. Add some; without a column split they go by ids."


def _home(id: str, sources: Sequence[Source]) -> int:
    return next(number for number, source in enumerate(sources) if id.startswith(source.prefix))


def _list(paths: Iterable[Path]) -> str:
    return ", ".join(map(str, paths))
