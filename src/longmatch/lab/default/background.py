"""Background statistics of texts of many kinds: how common terms are, and vectors of unrelated sentences.

Each data set is a kind of text. A term counts as common as in the kind that has it most, and a sentence is compared
with the unrelated sentences of the kind that offers it most; the style of each tells which documents are of it. So a
kind can be left out, to see how the default does on texts of a kind that it does not know.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.progress import track
from safetensors.numpy import load_file, save_file

from longmatch.default.meaning import TableMeaning, encode_texts
from longmatch.default.space import Space
from longmatch.default.statistics import SENTENCES, SPACE, STYLES, background_to_bytes, write_space
from longmatch.default.unrelated import Kinds, Style, by_length, root_frequencies
from longmatch.documents.document import Document
from longmatch.encoders.token_vectors import TokenVectors
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lexical.terms import KINDS, Counts, Hashes, Kind
from longmatch.lexical.weights import FREQUENCIES, Frequencies, TermBackground
from longmatch.matching.levels import Background
from longmatch.ragged import Array, unit_rows

COMMON_WORDS = 100  # of general text
USUAL_LENGTHS = (0.02, 0.98)  # quantiles of the documents' lengths
SHRINKAGE = 0.1  # of the covariance of words towards none
HELD_OUT = 4  # every so many-th document says how far documents deviate that the style was not learnt from
WITHIN = 0.98  # share of a kind's documents that are within its range
APART = 0.97  # share of its random pairs that do not deviate together
PAIRS = 20_000  # of the documents held out
GENERAL = "pretrain"  # encyclopedia articles: general text
FOREIGN = ("legal-zh",)  # in languages that the packaged backbone does not know: terms alone
KINDS_OF_TEXT = (GENERAL, "acl", "legal", "news", "papers", "peps", *FOREIGN)  # wiki is of the kind of pretrain
FOLDER = "kinds"
DOCUMENTS = 6_000  # of a kind, at most: enough to separate common terms from rare ones
UNIT = 10_000.0  # documents that shares are written as
LEAST_SHARE = {"words": 0.002, "phrases": 0.004}  # terms of fewer documents are left out: to the matcher they are rare
LEAST_DOCUMENTS = {"words": 3, "phrases": 4}
EVERYDAY = 0.4  # share of general text from which a word is an everyday one
SENTENCES_OF_KIND = 192
SENTENCE_WORDS = (8, 60)
MOST_PHRASES = 30_000_000  # counted at a time; beyond that, phrases seen once are dropped


@dataclass(frozen=True)
class KindOfText:
    """The share of a kind's documents that terms occur in, vectors of its sentences, and its style."""

    terms: dict[Kind, Frequencies]
    sentences: npt.NDArray[np.float16]  # (sentences, width); none of a foreign kind
    style: Style | None = None  # none of a foreign kind either
    space: Space | None = None  # nor this

    def write(self, path: Path) -> None:
        """Write as safetensors."""
        table: dict[str, npt.NDArray[np.generic]] = {"sentences": self.sentences}
        for kind, shares in self.terms.items():
            table |= {f"{kind}.ids": shares.ids.view(np.int64), f"{kind}.shares": shares.counts.astype(np.float32)}
        if self.style:
            table |= {f"style.{name}": values for name, values in vars(self.style).items()}
        if self.space:
            table |= {"space.centre": self.space.centre, "space.spread": self.space.spread}
        save_file(table, path)

    @staticmethod
    def read(path: Path) -> "KindOfText":
        """Read what `write` wrote."""
        table = load_file(path)
        terms = {
            kind: Frequencies(1.0, table[f"{kind}.ids"].view(np.uint64), table[f"{kind}.shares"].astype(np.float64))
            for kind in KINDS
        }
        style = {name.removeprefix("style."): values for name, values in table.items() if name.startswith("style.")}
        space = Space(table["space.centre"], table["space.spread"]) if style else None
        return KindOfText(terms, table["sentences"], Style(**style) if style else None, space)


def write_kinds(data: Path, folder: Path, names: Sequence[str] = KINDS_OF_TEXT) -> None:
    """Count each kind's terms and encode its sentences: FOLDER/NAME.safetensors. They are numbers only, no text.

    Styles are learnt in the words of general text, so its file must be there, or among the `names` before the others.
    """
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    table = TokenVectors.load()
    for name in names:
        documents = list(islice(training_documents(DataFolder(data / name)), DOCUMENTS))
        terms, words, vectors = document_shares(documents, table)
        sentences, style, space = np.zeros((0, table.width), dtype=np.float16), None, None
        if name not in FOREIGN:
            sentences = unrelated_sentences(documents, table, np.random.default_rng(0)).astype(np.float16)
            general = terms if name == GENERAL else KindOfText.read(folder / FOLDER / f"{GENERAL}.safetensors").terms
            style, space = fit_style(common_words(general["words"]), words), Space.of(vectors)
        KindOfText(terms, sentences, style, space).write(folder / FOLDER / f"{name}.safetensors")
        print(f"{name}: {len(documents)} documents, {len(terms['phrases'].ids)} phrases", flush=True)


def training_documents(folder: DataFolder) -> Iterator[Document]:
    """The documents that training labels name; all documents of a set without labels."""
    named = {id for pair in folder.pairs("train") for id in (pair.source, pair.target)}
    named |= {id for query, answers in folder.qrels("train").items() for id in (query, *answers)}
    unlabelled = not (folder.pairs() or folder.judgements())
    return (document for document in folder.documents() if unlabelled or document.id in named)


def read_kinds(folder: Path, without: str | None = None) -> dict[str, KindOfText]:
    """The kinds that a folder holds, in the order of KINDS_OF_TEXT, `without` one of them."""
    paths = {name: folder / FOLDER / f"{name}.safetensors" for name in KINDS_OF_TEXT if name != without}
    return {name: KindOfText.read(path) for name, path in paths.items() if path.is_file()}


def combine(kinds: dict[str, KindOfText]) -> tuple[TermBackground, Background, Space]:
    """The background of all kinds together: how common terms are, unrelated sentences, and where documents lie."""
    if GENERAL not in kinds:
        raise LongmatchError(f"The background needs general text. Run --step background with {GENERAL}.")
    words, phrases = (_largest([each.terms[kind] for each in kinds.values()]) for kind in KINDS)
    general = kinds[GENERAL].terms["words"]
    foreign = [kinds[name].terms["words"].ids for name in FOREIGN if name in kinds]
    native = np.concatenate([each.terms["words"].ids for name, each in kinds.items() if name not in FOREIGN])
    unknown = np.setdiff1d(np.concatenate([*foreign, np.empty(0, np.uint64)]), native)
    terms = TermBackground(words, phrases, general.ids[general.counts >= EVERYDAY], unknown)
    vectors = [each.sentences for each in kinds.values() if len(each.sentences)]
    least = min(map(len, vectors))
    stacked = np.concatenate([each[:least] for each in vectors]).astype(np.float32)
    background = Background(unit_rows(stacked), len(vectors), extrapolates=True)
    return terms, background, Space.mean([each.space for each in kinds.values() if each.space])


def styles_of(kinds: dict[str, KindOfText]) -> Kinds:
    """The styles of all kinds that have one."""
    words = common_words(kinds[GENERAL].terms["words"])
    return Kinds(words, {name: kind.style for name, kind in kinds.items() if kind.style})


def write_background(folder: Path) -> None:
    """Write the background of all kinds that the folder holds, as the package holds it."""
    kinds = read_kinds(folder)
    terms, sentences, space = combine(kinds)
    styles_of(kinds).write(folder / STYLES)
    write_space(space, folder / SPACE)
    terms.write(folder / FREQUENCIES)
    (folder / SENTENCES).write_bytes(background_to_bytes(sentences))


def _largest(tables: Sequence[Frequencies]) -> Frequencies:
    """The largest share of each term in any table, of UNIT documents."""
    ids = np.unique(np.concatenate([table.ids for table in tables]))
    shares = np.zeros(len(ids))
    for table in tables:
        position = np.searchsorted(ids, table.ids)
        shares[position] = np.maximum(shares[position], table.counts)
    return Frequencies(UNIT, ids, np.round(UNIT * shares))


def document_shares(
    documents: Sequence[Document], table: TokenVectors
) -> tuple[dict[Kind, Frequencies], list[Counts], Array]:
    """The share of the documents that words and phrases occur in; the words of each document, and its vector."""
    counts: dict[Kind, Counter[int]] = {kind: Counter() for kind in KINDS}
    meaning = TableMeaning(table, Background(np.zeros((0, table.width), np.float32)))
    words, means = [], []
    for document in track(documents, "counting"):
        ((read, vectors),) = meaning.encode([meaning.tokenize(document)], None, None)
        words.append(read.terms.words.counts)
        means.append(vectors.document)
        for kind in KINDS:
            counts[kind].update(read.terms.of(kind).counts.ids.tolist())
        if len(counts["phrases"]) > MOST_PHRASES:
            counts["phrases"] = Counter({term: count for term, count in counts["phrases"].items() if count > 1})
    shares = {}
    for kind in KINDS:
        least = max(LEAST_DOCUMENTS[kind], LEAST_SHARE[kind] * len(documents))
        kept = sorted((term, count) for term, count in counts[kind].items() if count >= least)
        ids: Hashes = np.array([term for term, _ in kept], dtype=np.uint64)
        found = np.array([count for _, count in kept], dtype=np.float64)
        shares[kind] = Frequencies(1.0, ids, found / max(1, len(documents)))
    return shares, words, np.stack(means)


def unrelated_sentences(documents: Sequence[Document], table: TokenVectors, rng: np.random.Generator) -> Array:
    """Vectors of sentences from many documents, as many of each, so that few of them are related."""
    least, most = SENTENCE_WORDS
    each = -(-SENTENCES_OF_KIND // len(documents)) + 1
    chosen: list[str] = []
    for document in documents:
        sentences = [sentence.of(document.text) for sentence in document.sentences]
        usable = [sentence for sentence in sentences if least <= len(sentence.split()) <= most]
        chosen += [usable[i] for i in rng.choice(len(usable), min(each, len(usable)), replace=False)]
    some = rng.permutation(len(chosen))[:SENTENCES_OF_KIND]
    return encode_texts(table, [chosen[i] for i in some])


def common_words(general: Frequencies) -> Hashes:
    """The words that most documents of general text have, sorted."""
    order = np.lexsort((general.ids, -general.counts.astype(np.float32)))  # as they are written
    return np.sort(general.ids[order[:COMMON_WORDS]])


def fit_style(words: Hashes, documents: Sequence[Counts]) -> Style:
    """How often documents of one kind, given by their words, have each of `words`."""
    frequencies, totals = root_frequencies(words, documents)
    lengths = np.quantile(np.log(np.maximum(totals, 1.0)), USUAL_LENGTHS)
    held_out = np.arange(len(documents)) % HELD_OUT == 0
    learnt = by_length(totals[~held_out], lengths)
    usual = np.linalg.lstsq(learnt, frequencies[~held_out], rcond=None)[0]
    covariance = np.cov((frequencies[~held_out] - learnt @ usual).T)
    shrunk = (1 - SHRINKAGE) * covariance + SHRINKAGE * np.diag(np.diag(covariance))
    spreads, axes = np.linalg.eigh(shrunk)
    scaling = axes / np.sqrt(np.maximum(spreads, 1e-12))
    style = Style(lengths, usual, scaling, np.zeros(1), np.zeros(1))

    # the limits that most documents of the kind keep, and most pairs of them
    deviations = style.deviations(frequencies[held_out], totals[held_out])
    first, second = np.random.default_rng(0).integers(0, len(deviations), (2, PAIRS))
    apart = first != second
    directions = unit_rows(deviations)
    cosines = (directions[first[apart]] * directions[second[apart]]).sum(axis=1)
    within = np.quantile(np.linalg.norm(deviations, axis=1), [WITHIN])
    return replace(style, range=within, together=np.quantile(cosines, [APART]))
