"""All data of a training run, opened from the user's paths."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from tokenizers import Tokenizer

from longmatch.errors import LongmatchError
from longmatch.lab.datasets.records import SPLITS, Split
from longmatch.lab.datasets.splits import DEFAULT, residue
from longmatch.lab.store.tokens import TokenCollection
from longmatch.lab.training.data.labels import (
    ClassTable,
    Mask,
    NumberedPairs,
    PairTable,
    class_pairs,
    labelled_classes,
    number_pairs,
    pair_keys,
    without_leaks,
)
from longmatch.lab.training.data.negatives import Candidates, NegativeSampler
from longmatch.lab.training.data.sources import (
    ClassLabels,
    PairLabels,
    Source,
    document_source,
    find_sources,
    read_labels,
)
from longmatch.lexical.terms import lookup
from longmatch.matching.matcher import Progress
from longmatch.units.tokens import Ints

HELD_OUT = 5  # percent of the documents, for validation without labels
EMPTY = np.zeros(0, dtype=np.int64)


class TrainingData:
    """The tokens of documents and their labels. Documents go by their number in `tokens`.

    Training never sees pairs that validation or test label, nor pairs with their queries.
    """

    def __init__(
        self,
        tokens: TokenCollection,
        sources: Sequence[Source],
        labels: Sequence[Sequence[PairLabels | ClassLabels]],
        seed: int = 0,
        negatives: Literal["random", "near"] = "random",
        reachable: bool = False,
    ) -> None:
        self.tokens, self.sources, self.seed = tokens, tuple(sources), seed
        homes = [next(n for n, source in enumerate(sources) if id.startswith(source.prefix)) for id in tokens.ids]
        home = np.array(homes, dtype=np.int64)
        self._of = [np.flatnonzero(home == number) for number in range(len(sources))]  # each source's documents
        self._ids = [id.removeprefix(sources[at].prefix) for id, at in zip(tokens.ids, homes, strict=True)]
        self._negatives = NegativeSampler(negatives, tokens, self._ids, seed, reachable)
        self._tables: list[list[NumberedPairs]] = []  # of each source
        classes: list[tuple[int, int, str]] = []
        for source, documents, tables in zip(sources, self._of, labels, strict=True):
            pairs = [number_pairs(table, tokens, source.prefix) for table in tables if isinstance(table, PairLabels)]
            self._tables.append(without_leaks(pairs))
            class_tables = [table for table in tables if isinstance(table, ClassLabels)]
            for table in class_tables:
                classes += labelled_classes(table, tokens, source.prefix)
            for number in [] if class_tables else documents.tolist():  # the classes given in the documents themselves
                if (label := tokens.labels[number]) is not None:
                    classes.append((SPLITS.index(DEFAULT.of(self._ids[number])), number, label))
        self._classes = ClassTable.number(classes)
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
        """Open data folders, JSON Lines files, folders of documents, and .tsv label files.

        The documents are tokenised into a store in `cache`, unless they are there already, by `processes` processes (by
        default the number set by `use_processes`).
        """
        sources = find_sources([paths] if isinstance(paths, str | Path) else paths)
        labels = [[read_labels(path) for path in source.labels] for source in sources]
        tokens = TokenCollection.build(cache, document_source(sources), tokenizer, progress, processes)
        if not len(tokens):
            why = f" {next(iter(tokens.unreadable.values())).why}" if tokens.unreadable else ""
            where = ", ".join(str(source.path) for source in sources)
            raise LongmatchError(f"{where} holds no documents that can be read.{why}")
        return cls(tokens, sources, labels, seed, negatives, reachable)

    @property
    def has_pairs(self) -> bool:
        """Whether there are pairs, judgements or links."""
        return any(self._tables)

    def pairs(self, split: Split) -> PairTable:
        """The labelled pairs of a split, matches and non-matches; without pairs, those of the same and of two classes.

        If there are only matches, random or `near` non-matches are added; with `reachable`, matches that the first
        stage misses are dropped from training and validation. Only test may be empty.
        """
        if not self.has_pairs and not len(self._classes):
            raise LongmatchError(
                f"{self._where} has no labels that tell which documents match. Add pairs.tsv (split, source, target, "
                "label), qrels.tsv, links.tsv or classes.tsv, or train a model that needs no labels."
            )
        pairs = self._all_pairs(split)
        if split == "test":
            return pairs
        if not len(pairs):
            raise LongmatchError(
                f"{self._where} has no labels in the {split} split. Add some; without a column split, ids decide."
            )
        if len(np.unique(pairs.label)) == 1:
            if not self.has_pairs and pairs.label[0]:
                name = self._classes.names[self._classes.of(split)[1][0]]
                raise LongmatchError(
                    f"{self._where} has only one class in the {split} split, {name!r}. Add documents of another."
                )
            present, missing = ("matches", "non-matches") if pairs.label[0] else ("non-matches", "matches")
            raise LongmatchError(
                f"{self._where} has only {present} in the {split} split (label {pairs.label[0]}). "
                f"Add {missing}; without a column label, random documents are used as non-matches."
            )
        return pairs

    def _all_pairs(self, split: Split) -> PairTable:
        if split not in self._pairs:
            found = []
            for source, documents, tables in zip(self.sources, self._of, self._tables, strict=True):
                if not tables:
                    continue
                candidates = Candidates.read(source, documents, self.tokens)
                main = [rows for rows in tables if not rows.table.judged] or tables  # judgements only without pairs
                found += [self._negatives.with_negatives(rows, split, tables, candidates) for rows in main]
            if not self.has_pairs:
                found = [class_pairs(*self._classes.of(split), self._ids, self.seed if split == "train" else 0)]
            self._pairs[split] = PairTable.join(found)
        return self._pairs[split]

    @cached_property
    def positives(self) -> Ints:
        """All distinct matches that training may use, from every table: (matches, 2), the smaller number first."""
        tables = [rows.of("train") for rows in self._each_table()] or [self._all_pairs("train")]
        matches = [np.stack([t.source, t.target], axis=1)[t.label == 1] for t in tables]
        return np.unique(np.sort(np.concatenate(matches), axis=1), axis=0)

    def related(self, numbers: Ints) -> Mask:
        """Which of these documents match, as far as training may know: (documents, documents)."""
        keys = pair_keys(numbers[:, None], numbers, len(self.tokens))
        classes = self._class_of[numbers]
        related: Mask = lookup(self._match_keys, keys.ravel())[1].reshape(keys.shape)
        related |= (classes[:, None] == classes) & (classes >= 0)
        related |= numbers[:, None] == numbers
        return related

    @cached_property
    def _match_keys(self) -> Ints:
        """The sorted keys of all matches."""
        return pair_keys(self.positives[:, 0], self.positives[:, 1], len(self.tokens))

    @cached_property
    def _class_of(self) -> Ints:
        """Each document's class as far as training may know, or -1."""
        classes = np.full(len(self.tokens), -1, dtype=np.int64)
        documents, labels = self._classes.of("train")
        classes[documents] = labels
        return classes

    def documents(self, split: Split) -> Ints:
        """The documents for training without labels; validation is a held-out twentieth, chosen by id.

        The splits of labels are ignored: documents of validation and test pairs are included (see `facts`).
        """
        held = self._held_out
        if held.all():
            raise LongmatchError(f"{self._where} has too few documents to hold one out for validation. Add some.")
        return {"train": np.flatnonzero(~held), "validation": np.flatnonzero(held), "test": EMPTY}[split]

    @cached_property
    def _held_out(self) -> Mask:
        residues = np.array([residue(f"held out:{id}") for id in self._ids])
        held: Mask = residues < max(HELD_OUT, int(residues.min()) + 1)  # at least one
        return held

    def labelled(self, split: Split) -> Ints:
        """The documents in the labels of a split."""
        rows = [rows.of(split) for rows in self._each_table()]
        named = (numbers for table in rows for numbers in (table.source, table.target))
        return np.unique(np.concatenate([EMPTY, self._classes.of(split)[0], *named]))

    @property
    def facts(self) -> dict[str, Any]:
        """For the model card: sources, and numbers of documents, tokens, pairs and classes."""
        labels, held = {split: self._all_pairs(split).label for split in SPLITS}, self._held_out
        later = np.union1d(self.labelled("validation"), self.labelled("test"))
        return {
            "sources": [
                {"name": source.name, "documents": len(documents), "labels": [path.name for path in source.labels]}
                for source, documents in zip(self.sources, self._of, strict=True)
            ],
            "documents": len(self.tokens),
            "unreadable": len(self.tokens.unreadable),
            "tokens": int(self.tokens.lengths.sum()),
            "pairs": {s: {"matches": int(v.sum()), "others": int((1 - v).sum())} for s, v in labels.items()},
            "classes": len(self._classes.names),
            "without_labels": {
                "train": int((~held).sum()),
                "validation": int(held.sum()),
                "train_documents_that_validation_or_test_labels_name": int((~held[later]).sum()),
            },
        }

    def _each_table(self) -> list[NumberedPairs]:
        return [rows for tables in self._tables for rows in tables]

    @property
    def _where(self) -> str:
        """The label files, or the sources if there are none, for error messages."""
        labels = [path for source in self.sources for path in source.labels]
        return ", ".join(map(str, labels or [source.path for source in self.sources]))
